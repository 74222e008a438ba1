// Where the files of a lesson go, and how they get there.
#pragma once

#include <string>

namespace headway {

// "build/out/<lesson>/<file>"; makes the folder.
std::string output_file(const std::string& lesson, const std::string& file);

// Makes missing folders, writes next to `path`, then renames: the file appears whole or not at all.
// FileError names the path and the reason.
void write_output(const std::string& path, const std::string& bytes);

}  // namespace headway

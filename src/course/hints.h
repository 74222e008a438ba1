// Help with an exercise: three hints, one at a time, and then the solution. A hints.txt holds
//
//   hint 1: Which numbers of a token belong together?
//   Further lines, if it needs them.
//
//   hint 2: ...
//   hint 3: ...
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace headway {

// The three hints, each its title and the lines below it. FileError, naming file and line, if it is not of
// this form.
std::vector<std::string> read_hints(const std::string& path);

// Prints the next hint of the lesson and counts it as shown; after the last, all of them.
void show_hint(const std::string& lesson, std::ostream& out);

// Prints the solution: at once if the check was passed, else after a y or yes on `in`. Was it printed?
bool show_solution(const std::string& lesson, std::istream& in, std::ostream& out);

}  // namespace headway

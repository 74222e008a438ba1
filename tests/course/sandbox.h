// A lesson in a folder of its own, which is the current one while a test lasts.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "course/region.h"
#include "show/output.h"

namespace headway {

// The files of lesson 06-split, small ones.
inline const std::string stub_text = "// Exercise 06-split: cut the columns.\n"
                                     "#include \"course/candidate.h\"\n"
                                     "namespace {\n"
                                     "// BEGIN exercise 06-split\n"
                                     "int split() { throw 1; }\n"
                                     "// END\n"
                                     "const Candidate candidate(split);\n"
                                     "}  // namespace\n";

struct Sandbox {
  std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("headway_course_test_" + std::to_string(getpid()));

  Sandbox() {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    std::filesystem::current_path(folder);
    write_output("lessons/06-split/stub.cpp", stub_text);
    write_output("lessons/06-split/exercise.cpp", stub_text);
    write_output("lessons/06-split/README.md", "# 06-split: from one wide row to heads\n\nMore.\n");
  }
  ~Sandbox() {
    std::filesystem::current_path(before);
    std::filesystem::remove_all(folder);
  }
};

// The text with its one `from` made `to`.
inline std::string with(std::string in, const std::string& from, const std::string& to) {
  return in.replace(in.find(from), from.size(), to);
}

}  // namespace headway

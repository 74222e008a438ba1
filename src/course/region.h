// The learner's file and its region. lessons/06-split/exercise.cpp begins as a copy of stub.cpp beside it:
//
//   #include "course/candidate.h"
//   // BEGIN exercise 06-split
//   Tensor split(const Tensor& x, int64_t num_heads) { throw NotDone("split"); }
//   // END
//
// What stands between the two marker lines is the learner's. A check compiles the text of stub.cpp with that
// region in it, so nothing outside can be broken by accident. No function here writes to the learner's file.
// The words behind BEGIN exercise are for the reader: a lesson may be copied to another directory as it is.
#pragma once

#include <string>
#include <vector>

namespace headway {

// A lesson is given by its directory: the name of lessons/06-split is 06-split.
std::string lesson_name(const std::string& lesson);
// What to type for it: make_command("lessons/06-split", "-check") is "make 06-check".
std::string make_command(const std::string& lesson, const std::string& suffix = "");

// A hint for files that only a lesson with an exercise has.
inline const char* const no_exercise = "not every lesson has an exercise: make status shows which do";

// The bytes of a file. FileError names it, with `hint` as the way out.
std::string read_file(const std::string& path, const std::string& hint);
// The same, or nothing if there is no such file.
std::string content_of(const std::string& path);
// The bytes as lines, without their ends: \n or \r\n. A byte order mark is left out.
std::vector<std::string> read_lines(const std::string& path, const std::string& hint);
std::string trimmed(const std::string& line);
// The words with line breaks before column 98, and `indent` before each line but the first.
std::string wrapped(const std::string& words, const std::string& indent);
// At most `width` characters; a longer line ends in "..", and what is not plain ASCII becomes '?'.
std::string shortened(const std::string& line, size_t width);

// The functions below throw FileError for a file that is missing, or whose two markers are not there exactly
// once each and in this order; for exercise.cpp also if its BEGIN line is another than the stub's.

struct Spliced {
  std::string source;  // #line makes compilers name exercise.cpp in the region, stub.cpp outside
  std::string report;  // what was changed outside the region, so is not used; "" if nothing
};
Spliced splice(const std::string& lesson);

// Is the region still the stub's? Blanks around a line and empty lines do not count.
bool untouched(const std::string& lesson);

// The region of solution.cpp.
std::string solution_region(const std::string& lesson);

}  // namespace headway

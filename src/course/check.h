// `make NN-check`.
#pragma once

#include <string>

namespace headway {

// Everything a check needs. `judge` is the program made of the lesson's check.cpp, `program` the one made of
// the learner's exercise.cpp, `table` what the solution and the known mistakes answer (see record.h).
struct Check {
  std::string lesson;  // "lessons/06-split"
  std::string judge, program, table;
};

// Checks the learner's program, prints the result and records it. 0: passed; 1: not yet.
int check(const Check& c);

}  // namespace headway

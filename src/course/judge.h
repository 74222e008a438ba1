// The judge: the program made of a lesson's check.cpp (see tested.h), run as a process of its own.
#pragma once

#include <string>
#include <vector>

#include "course/report.h"

namespace headway {

// Runs the judge on `candidate`: the name of one that is linked into it, or the path of a program. Its
// answers go to the file `transcript`. FileError if not every test that the lesson's check.cpp declares has
// run.
std::vector<TestResult> judged(const std::string& judge, const std::string& lesson,
                               const std::string& candidate, const std::string& transcript);

// Writes what all candidates in the judge answer to the requests of the check (see record.h). FileError if
// the solution does not pass.
void write_table(const std::string& judge, const std::string& lesson, const std::string& table);

int count_passed(const std::vector<TestResult>& results);

}  // namespace headway

// The proof that a check is worth something; for whoever writes an exercise, and for `make test`.
#pragma once

#include "course/record.h"
#include "course/report.h"

namespace headway {

// One candidate before the judge.
struct Trial {
  std::string who;  // "solution", "stub", or the name of a mistake
  std::vector<TestResult> results;
  std::vector<Record> answers;
};

// What is wrong with a check, a line each: the solution fails; the stub passes a test or does more than throw
// NotDone; a mistake passes, gets no diagnosis or another's, equals another, lacks a function; a test that no
// mistake fails. `table` is what all candidates answer to the requests of the check.
std::vector<std::string> weaknesses(const std::vector<Trial>& trials, const std::vector<Record>& table);

// Tries everyone in the table; prints what it found. 0: no weakness.
int prove(const std::string& lesson, const std::string& judge, const std::string& table);

}  // namespace headway

// What a check found, read from Catch2's XML: its JUnit output does not carry the tags.
#pragma once

#include <string>
#include <vector>

namespace headway {

struct TestResult {
  std::string name;
  int points = 0;  // of its tag [points:2]
  bool passed = false;
  std::string failure = {};  // the first one: what the learner should read
};

// The test cases that ran to their end, in order.
std::vector<TestResult> read_report(const std::string& xml);

// How many test cases a check.cpp declares.
int declared_tests(const std::string& check_source);

}  // namespace headway

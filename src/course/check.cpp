#include "course/check.h"

#include <iostream>
#include <sstream>

#include "course/judge.h"
#include "course/program.h"
#include "course/progress.h"
#include "course/record.h"
#include "course/region.h"

namespace headway {

namespace {

// At most `most` lines of `s`, each behind `indent`.
std::string lines_of(const std::string& s, int most, const std::string& indent) {
  std::istringstream in(s);
  std::string out, line;
  for (int i = 0; std::getline(in, line); i++) {
    if (i == most) return out + indent + "..\n";
    out += indent + shortened(line, 98 - indent.size()) + "\n";
  }
  return out;
}

// The list in the section "What you have shown" of a README.
std::string what_was_shown(const std::string& readme) {
  std::istringstream in(readme);
  std::vector<std::string> points;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("## ", 0) == 0) inside = line == "## What you have shown";
    if (inside && line.rfind("- ", 0) == 0) points.push_back("");
    if (inside && !points.empty()) points.back() += " " + line;
  }
  std::string out;
  for (const std::string& point : points) out += wrapped(point, "  ") + "\n";
  return out;
}

void print_first_failure(const Check& c, const std::vector<TestResult>& results,
                         const std::string& transcript) {
  for (const TestResult& test : results) {
    if (test.passed) continue;
    std::cout << "\n"
              << wrapped("First failure, in " + test.name, "  ") << "\n"
              << lines_of(test.failure, 16, "  ");
    break;
  }
  const std::vector<Record> table = read_records(c.table), answers = read_records(transcript);
  if (table.empty()) throw FileError(Message(c.table + " is empty").hint("remove it: make writes it anew"));
  const Likeness like = find_mistake(answers, table);
  if (!like.mistake) return;
  std::cout << (like.in_all ? "  diagnosis " : "  perhaps   ")
            << wrapped(like.mistake->diagnosis, "            ") << "\n";
}

}  // namespace

int check(const Check& c) {
  const std::string transcript = c.program + ".answers";
  const std::vector<TestResult> results = judged(c.judge, c.lesson, c.program, transcript);
  CheckResult total;
  for (const TestResult& test : results) {
    if (test.failure.find(std::string("\n") + set_up_is_broken) != std::string::npos) {
      throw FileError(Message(test.failure)
                          .hint("nothing was recorded; make clean, then " + make_command(c.lesson, "-check") +
                                " builds everything anew"));
    }
  }
  for (const TestResult& test : results) {
    std::cout << (test.passed ? "  pass     " : "  not yet  ") << test.name << "\n";
    total.tests++, total.points_of += test.points;
    if (test.passed) total.passed++, total.points += test.points;
  }
  const bool all = total.passed == total.tests;
  if (all) {
    std::cout << "\nYou have shown:\n" << what_was_shown(content_of(c.lesson + "/README.md"));
  } else {
    print_first_failure(c, results, transcript);
  }
  const std::string printed = c.program + ".printed";
  if (!content_of(printed).empty()) std::cout << "\nAll that your functions printed: " << printed << "\n";
  std::cout << "\n"
            << total.passed << " of " << total.tests << " tests pass: " << total.points << " of "
            << total.points_of << " points\n";
  record_check(c.lesson, total);
  std::cout << "next: "
            << (all ? make_command(c.lesson, "-quiz")
                    : make_command(c.lesson, "-check") +
                          " again; where you are stuck: " + make_command(c.lesson, "-hint"))
            << "\n";
  return all ? 0 : 1;
}

}  // namespace headway

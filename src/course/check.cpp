#include "course/check.h"

#include <iostream>
#include <sstream>

#include "course/judge.h"
#include "course/progress.h"
#include "course/record.h"
#include "course/region.h"

namespace headway {

namespace {

// The text with line breaks before column 98, each new line indented like the first.
std::string wrapped(const std::string& words, const std::string& indent) {
  std::istringstream in(words);
  std::string out, line;
  for (std::string word; in >> word;) {
    if (indent.size() + line.size() + 1 + word.size() > 98) {
      out += line + "\n" + indent;
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return out + line;
}

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

// The section of a README under this heading, without blank lines.
std::string section(const std::string& readme, const std::string& heading) {
  std::istringstream in(readme);
  std::string out;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("## ", 0) == 0)
      inside = line == "## " + heading;
    else if (inside && !line.empty())
      out += line + "\n";
  }
  return out;
}

void print_first_failure(const Check& c, const std::vector<TestResult>& results,
                         const std::string& transcript) {
  for (const TestResult& test : results) {
    if (test.passed) continue;
    std::cout << "\nFirst failure, in " << test.name << "\n" << lines_of(test.failure, 8, "  ");
    break;
  }
  const std::vector<Record> table = read_records(c.table), answers = read_records(transcript);
  const Record* mistake = find_mistake(answers, table);
  if (mistake) std::cout << "  diagnosis " << wrapped(mistake->diagnosis, "            ") << "\n";
  const std::string printed = content_of(c.program + ".printed");
  if (!printed.empty()) std::cout << "Your program printed:\n" << lines_of(printed, 3, "  | ");
}

}  // namespace

int check(const Check& c) {
  const std::string transcript = c.program + ".answers";
  const std::vector<TestResult> results = judged(c.judge, c.lesson, c.program, transcript);
  CheckResult total;
  for (const TestResult& test : results) {
    std::cout << (test.passed ? "  pass     " : "  not yet  ") << test.name << "\n";
    total.tests++, total.points_of += test.points;
    if (test.passed) total.passed++, total.points += test.points;
  }
  const bool all = total.passed == total.tests;
  if (all) {
    std::cout << "\nYou have shown:\n" << section(content_of(c.lesson + "/README.md"), "What you have shown");
  } else {
    print_first_failure(c, results, transcript);
  }
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

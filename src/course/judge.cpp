#include "course/judge.h"

#include <cstdio>
#include <cstdlib>

#include "core/error.h"
#include "course/region.h"

namespace headway {

std::vector<TestResult> judged(const std::string& judge, const std::string& lesson,
                               const std::string& candidate, const std::string& transcript) {
  const std::string xml = judge + ".xml", noise = judge + ".log";
  std::remove(xml.c_str());
  std::remove(transcript.c_str());
  setenv("HEADWAY_CANDIDATE", candidate.c_str(), 1);
  setenv("HEADWAY_TRANSCRIPT", transcript.c_str(), 1);
  const std::string command = "'" + judge + "' -r xml -o '" + xml + "' > '" + noise + "' 2>&1";
  const int status = std::system(command.c_str());
  const std::vector<TestResult> results = read_report(content_of(xml));
  const int declared = declared_tests(content_of(lesson + "/check.cpp"));
  if (int(results.size()) == declared && declared > 0) return results;
  throw FileError(
      Message(text("the judge ran ", results.size(), " of ", declared, " tests (status ", status, ")"))
          .rule("a check counts only if every test of check.cpp has run")
          .hint("what it said stands in " + noise));
}

void write_table(const std::string& judge, const std::string& lesson, const std::string& table) {
  const std::string unfinished = table + ".unfinished";
  std::remove(unfinished.c_str());
  setenv("HEADWAY_TABLE", unfinished.c_str(), 1);
  const std::vector<TestResult> results = judged(judge, lesson, "solution", table + ".solution");
  if (count_passed(results) == int(results.size()) && std::rename(unfinished.c_str(), table.c_str()) == 0)
    return;
  throw FileError(
      Message(text("the solution passes ", count_passed(results), " of ", results.size(), " tests"))
          .rule("what is right and what is a known mistake is told by the solution's answers")
          .hint("mend " + lesson + "/solution.cpp or check.cpp"));
}

int count_passed(const std::vector<TestResult>& results) {
  int passed = 0;
  for (const TestResult& test : results) passed += test.passed;
  return passed;
}

}  // namespace headway

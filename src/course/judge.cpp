#include "course/judge.h"

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>

#include "core/error.h"
#include "course/region.h"

namespace headway {

namespace {

// What a command prints, and how it ended. A pipe, not a file: what the learner's code could write to is not
// believed.
std::string output_of(const std::string& command, int& status) {
  std::string all;
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) throw FileError("cannot start: " + command);
  char part[4096];
  for (size_t count; (count = fread(part, 1, sizeof part, pipe)) > 0;) all.append(part, count);
  status = pclose(pipe);
  return all;
}

}  // namespace

std::vector<TestResult> judged(const std::string& judge, const std::string& lesson,
                               const std::string& candidate, const std::string& transcript) {
  const std::string noise = judge + ".log";
  std::remove(transcript.c_str());
  setenv("HEADWAY_CANDIDATE", candidate.c_str(), 1);
  setenv("HEADWAY_TRANSCRIPT", transcript.c_str(), 1);
  int status = 0;
  const std::string xml = output_of("'" + judge + "' -r xml 2> '" + noise + "'", status);
  if (WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) > 128)) {
    throw FileError(Message("interrupted: nothing was recorded").hint("type the same command again"));
  }
  const std::vector<TestResult> results = read_report(xml);
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

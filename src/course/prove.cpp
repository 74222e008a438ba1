#include "course/prove.h"

#include <iostream>
#include <set>

#include "course/judge.h"
#include "course/record.h"
#include "course/region.h"

namespace headway {

namespace {

// Whether two mistakes give different answers to some request.
bool differ(const std::string& a, const std::string& b, const std::vector<Record>& table) {
  for (const Record& x : table) {
    for (const Record& y : table) {
      if (x.who == a && y.who == b && x.request == y.request && !same_answer(x.outcome, y.outcome))
        return true;
    }
  }
  return false;
}

}  // namespace

int prove(const std::string& lesson, const std::string& judge, const std::string& table_path) {
  const std::vector<Record> table = read_records(table_path);
  const std::string transcript = judge + ".answers";
  const auto results_of = [&](const std::string& who) { return judged(judge, lesson, who, transcript); };
  std::vector<std::string> wrong;
  const std::vector<TestResult> solution = results_of("solution"), stub = results_of("stub");
  if (count_passed(solution) != int(solution.size())) wrong.push_back("the solution fails its check");
  if (count_passed(stub) != 0) wrong.push_back("the stub passes a test");
  std::set<std::string> mistakes;
  for (const Record& record : table) {
    if (!record.diagnosis.empty()) mistakes.insert(record.who);
  }
  for (const std::string& mistake : mistakes) {
    const std::vector<TestResult> results = results_of(mistake);
    if (count_passed(results) == int(results.size())) wrong.push_back(mistake + " passes the check");
    const Record* diagnosed = find_mistake(read_records(transcript), table);
    if (!diagnosed || diagnosed->who != mistake) {
      wrong.push_back(mistake + " is taken for " + (diagnosed ? diagnosed->who : "nothing known"));
    }
    for (const std::string& other : mistakes) {
      if (mistake < other && !differ(mistake, other, table))
        wrong.push_back(mistake + " and " + other + " are one");
    }
  }
  if (mistakes.empty()) wrong.push_back("it has no mistakes");
  std::cout << lesson_name(lesson) << ": solution " << count_passed(solution) << " of " << solution.size()
            << ", stub " << count_passed(stub) << ", " << mistakes.size() << " mistakes\n";
  for (const std::string& fault : wrong) std::cout << "  FAILED " << fault << "\n";
  return wrong.empty() ? 0 : 1;
}

}  // namespace headway

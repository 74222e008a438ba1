#include "course/prove.h"

#include <algorithm>
#include <iostream>

#include "course/judge.h"
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

bool is_mistake(const std::string& who) { return who != "solution" && who != "stub"; }

// What the table says of one candidate by itself.
void look_at_records(const std::string& who, const std::vector<Record>& table,
                     std::vector<std::string>& wrong) {
  std::vector<int64_t> requests;
  bool lacking = false, more_than_not_done = false, diagnosed = false, ascii = true;
  for (const Record& record : table) {
    if (record.who != who) continue;
    requests.push_back(record.request);
    lacking = lacking || record.outcome.kind == Outcome::not_done;
    more_than_not_done = more_than_not_done || record.outcome.kind != Outcome::not_done;
    diagnosed = !record.diagnosis.empty();
    ascii = ascii && shortened(record.diagnosis, record.diagnosis.size()) == record.diagnosis;
  }
  std::sort(requests.begin(), requests.end());
  if (std::adjacent_find(requests.begin(), requests.end()) != requests.end()) {
    wrong.push_back("two candidates are called " + who);
  }
  if (who == "stub" && more_than_not_done) wrong.push_back("the stub does more than throw NotDone");
  if (who != "stub" && lacking) wrong.push_back(who + " lacks a function");
  if (is_mistake(who) && !diagnosed) wrong.push_back(who + " has no diagnosis");
  if (!ascii) wrong.push_back("the diagnosis of " + who + " is not plain ASCII");
}

void look_at_mistake(const Trial& trial, const std::vector<Record>& table, std::vector<std::string>& wrong) {
  if (count_passed(trial.results) == int(trial.results.size()))
    wrong.push_back(trial.who + " passes the check");
  const Likeness like = find_mistake(trial.answers, table);
  if (!like.mistake || !like.in_all || like.mistake->who != trial.who) {
    wrong.push_back(trial.who + " is taken for " + (like.mistake ? like.mistake->who : "nothing known"));
  }
}

}  // namespace

std::vector<std::string> weaknesses(const std::vector<Trial>& trials, const std::vector<Record>& table) {
  std::vector<std::string> wrong;
  for (size_t i = 0; i < trials.size(); i++) {
    const Trial& trial = trials[i];
    const int passed = count_passed(trial.results);
    if (trial.who == "solution" && passed < int(trial.results.size()))
      wrong.push_back("the solution fails its check");
    if (trial.who == "stub" && passed > 0) wrong.push_back("the stub passes a test");
    look_at_records(trial.who, table, wrong);
    if (!is_mistake(trial.who)) continue;
    look_at_mistake(trial, table, wrong);
    for (size_t j = 0; j < i; j++) {
      const std::string& other = trials[j].who;
      if (is_mistake(other) && !differ(trial.who, other, table))
        wrong.push_back(trial.who + " and " + other + " are one");
    }
  }
  for (size_t test = 0; !trials.empty() && test < trials[0].results.size(); test++) {
    const bool failed = std::any_of(trials.begin(), trials.end(), [&](const Trial& trial) {
      return is_mistake(trial.who) && !trial.results[test].passed;
    });
    if (!failed) wrong.push_back("no mistake fails the test '" + trials[0].results[test].name + "'");
  }
  return wrong;
}

int prove(const std::string& lesson, const std::string& judge, const std::string& table_path) {
  const std::vector<Record> table = read_records(table_path);
  const std::string transcript = judge + ".answers";
  std::vector<std::string> names;
  for (const Record& record : table) {
    if (std::find(names.begin(), names.end(), record.who) == names.end()) names.push_back(record.who);
  }
  std::vector<Trial> trials;
  for (const std::string& who : names) {
    const std::vector<TestResult> results = judged(judge, lesson, who, transcript);
    trials.push_back({who, results, read_records(transcript)});
  }
  const std::vector<std::string> wrong = weaknesses(trials, table);
  const size_t mistakes = size_t(std::count_if(names.begin(), names.end(), is_mistake));
  std::cout << lesson_name(lesson) << ": " << (trials.empty() ? 0 : trials[0].results.size()) << " tests, "
            << mistakes << " mistakes, " << wrong.size() << " weaknesses\n";
  for (const std::string& fault : wrong) std::cout << "  " << fault << "\n";
  return wrong.empty() && mistakes + 2 == names.size() ? 0 : 1;
}

}  // namespace headway

// What makes a check weak is seen; and a judge that ends early is no verdict.
#include "course/prove.h"

#include <sys/stat.h>

#include "catch.h"
#include "course/judge.h"
#include "course/sandbox.h"

using namespace headway;

namespace {

Outcome value(Scalar x) { return {.shape = {1}, .numbers = {x}}; }
const Outcome not_done = {.kind = Outcome::not_done};

// Two tests of one request each, whose right answers are 1 and 2.
struct Scene {
  std::vector<Trial> trials;
  std::vector<Record> table;

  void add(const std::string& who, const std::string& diagnosis, const Outcome& first,
           const Outcome& second) {
    const auto passes = [](const Outcome& outcome, Scalar right) {
      return same_answer(outcome, value(right));
    };
    const std::vector<Record> answers = {{who, diagnosis, 1, first}, {who, diagnosis, 2, second}};
    trials.push_back(
        {who,
         {{.name = "one", .passed = passes(first, 1)}, {.name = "two", .passed = passes(second, 2)}},
         answers});
    table.insert(table.end(), answers.begin(), answers.end());
  }
};

Scene good() {
  Scene scene;
  scene.add("solution", "", value(1), value(2));
  scene.add("stub", "", not_done, not_done);
  scene.add("first", "why", value(7), value(2));
  scene.add("second", "why", value(1), value(8));
  return scene;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a check without weaknesses has none") {
  const Scene scene = good();
  CHECK(weaknesses(scene.trials, scene.table) == Lines{});
}

TEST_CASE("a solution that fails, a stub that passes or does something") {
  Scene scene = good();
  scene.trials[0].results[1].passed = false;
  scene.trials[1].results[1].passed = true;
  CHECK(weaknesses(scene.trials, scene.table) ==
        Lines{"the solution fails its check", "the stub passes a test"});
  scene = good();
  scene.table[2].outcome = value(5);
  CHECK(weaknesses(scene.trials, scene.table) == Lines{"the stub does more than throw NotDone"});
}

TEST_CASE("a mistake that passes, or equals another, or that a check does not know") {
  Scene scene = good();
  scene.add("right", "why", value(1), value(2));
  CHECK(weaknesses(scene.trials, scene.table) ==
        Lines{"right passes the check", "right is taken for nothing known"});
  scene = good();
  scene.add("twin", "why", value(7), value(2));
  CHECK(weaknesses(scene.trials, scene.table) == Lines{"twin is taken for first", "twin and first are one"});
  scene = good();
  scene.add("throws", "why", {.kind = Outcome::refused}, value(2));
  CHECK(weaknesses(scene.trials, scene.table) == Lines{"throws is taken for nothing known"});
}

TEST_CASE("a mistake without a diagnosis, without a function, with another's name, or not in ASCII") {
  Scene scene = good();
  scene.add("silent", "", value(7), value(8));
  CHECK(weaknesses(scene.trials, scene.table) ==
        Lines{"silent has no diagnosis", "silent is taken for first"});
  scene = good();
  scene.add("half", "why", value(6), not_done);
  CHECK(weaknesses(scene.trials, scene.table) == Lines{"half lacks a function"});
  scene = good();
  scene.table.push_back({"first", "why", 1, value(9)});
  CHECK(weaknesses(scene.trials, scene.table) == Lines{"two candidates are called first"});
  scene = good();
  scene.add("foreign", "caf\xC3\xA9", value(6), value(6));
  CHECK(weaknesses(scene.trials, scene.table) == Lines{"the diagnosis of foreign is not plain ASCII"});
}

TEST_CASE("a test that no mistake fails") {
  Scene scene = good();
  scene.trials.pop_back();
  CHECK(weaknesses(scene.trials, scene.table) == Lines{"no mistake fails the test 'two'"});
}

namespace {

// A judge that prints these lines and ends with this status.
void write_judge(const std::string& lines, const std::string& end) {
  write_output("judge", "#!/bin/sh\ncat << 'X'\n" + lines + "\nX\n" + end + "\n");
  chmod("judge", 0755);
}

std::string verdict() {
  return message_of<FileError>([] { judged("./judge", "lessons/06-split", "solution", "answers"); });
}

const std::string one_passed = "<TestCase name=\"a\"><OverallResult success=\"true\"/></TestCase>";
const std::string one_failed = "<TestCase name=\"b\"><OverallResult success=\"false\"/></TestCase>";

}  // namespace

TEST_CASE("a judge counts only if every declared test has run") {
  const Sandbox sandbox;
  write_output("lessons/06-split/check.cpp", "\nTEST_CASE(\"a\") {}\nTEST_CASE(\"b\") {}\n");
  write_judge(one_passed, "exit 0");
  CHECK(verdict() ==
        "the judge ran 1 of 2 tests (status 0)\n  rule: a check counts only if every test of check.cpp "
        "has run\n  hint: what it said stands in ./judge.log");
  write_judge(one_passed + one_failed, "exit 1");
  CHECK(verdict() == "nothing was thrown");
  CHECK(count_passed(judged("./judge", "lessons/06-split", "solution", "answers")) == 1);
  write_judge(one_passed, "kill -INT $$");
  CHECK(verdict() == "interrupted: nothing was recorded\n  hint: type the same command again");
  write_output("lessons/06-split/check.cpp", "");
  write_judge("", "exit 0");
  CHECK(verdict().find("the judge ran 0 of 0 tests") == 0);
}

TEST_CASE("no table is written while the solution fails") {
  const Sandbox sandbox;
  write_output("lessons/06-split/check.cpp", "\nTEST_CASE(\"a\") {}\nTEST_CASE(\"b\") {}\n");
  write_judge(one_passed + one_failed, "echo answers > \"$HEADWAY_TABLE\"; exit 1");
  CHECK(message_of<FileError>([] {
          write_table("./judge", "lessons/06-split", "table");
        }).find("the solution passes 1 of 2 tests") == 0);
  CHECK(content_of("table") == "");
  write_judge(one_passed + one_passed, "echo answers > \"$HEADWAY_TABLE\"");
  write_table("./judge", "lessons/06-split", "table");
  CHECK(content_of("table") == "answers\n");
  unsetenv("HEADWAY_TABLE");
}

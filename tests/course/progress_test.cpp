// What is remembered of a learner's work, and what is advised next.
#include "course/progress.h"

#include <sstream>

#include "catch.h"
#include "core/error.h"
#include "course/sandbox.h"

using namespace headway;

namespace {

const std::string lesson = "lessons/06-split";
const std::string exercise = "lessons/06-split/exercise.cpp";
const std::string record = ".progress/06-split/progress.txt";

// All that is known of the lesson, in one line.
std::string known() {
  const Progress p = read_progress(lesson);
  return text(p.check.passed, "/", p.check.tests, " ", p.check.points, "/", p.check.points_of,
              p.passed_once ? " once " : " ", p.hints_shown, " ", p.quiz_right, "/", p.quiz_questions);
}

std::string known_of(const std::string& lines) {
  write_output(record, lines);
  return known();
}

std::string after_reset(const std::string& of = lesson) {
  std::ostringstream out;
  reset(of, out);
  return out.str();
}

const std::string edit = "next: edit lessons/06-split/exercise.cpp, then make 06-check\n";

}  // namespace

TEST_CASE("results are kept in a file that a person can read") {
  const Sandbox sandbox;
  CHECK(known() == "0/0 0/0 0 0/0");
  record_check(lesson, {3, 7, 2, 6});
  CHECK(read_file(record, "") == "check: 3 of 7 tests, 2 of 6 points\n");
  record_hints("06-split", 2);  // the name is enough
  record_quiz(lesson, 4, 5);
  CHECK(known() == "3/7 2/6 2 4/5");
  record_check(lesson, {7, 7, 6, 6});
  record_check(lesson, {1, 7, 0, 6});
  CHECK(read_file(record, "") == "check: 1 of 7 tests, 0 of 6 points\ncheck passed once: yes\n"
                                 "hints shown: 2\nquiz: 4 of 5 right\n");
  CHECK(known() == "1/7 0/6 once 2 4/5");
}

TEST_CASE("of a quiz the best result is kept, until its questions change") {
  const Sandbox sandbox;
  record_quiz(lesson, 4, 5);
  record_quiz(lesson, 1, 5);
  CHECK(known() == "0/0 0/0 0 4/5");
  record_quiz(lesson, 5, 5);
  CHECK(known() == "0/0 0/0 0 5/5");
  record_quiz(lesson, 2, 6);
  CHECK(known() == "0/0 0/0 0 2/6");
}

TEST_CASE("a broken progress file is never more than missing lines") {
  const Sandbox sandbox;
  CHECK(known_of("") == "0/0 0/0 0 0/0");
  CHECK(known_of("check: 7 of 7 tests, 6 of 6 points\r\n  quiz: 4 of 5 right") == "7/7 6/6 once 0 4/5");
  CHECK(known_of("nonsense\n\nhints shown: 2\nfuture: 3\n") == "0/0 0/0 2 0/0");
  CHECK(known_of("check: 8 of 7 tests, 0 of 6 points\nhints shown: 4\nquiz: 6 of 5 right\n") ==
        "0/0 0/0 0 0/0");
  CHECK(known_of("check: -1 of 7 tests, 0 of 6 points\nhints shown: -1\nquiz: -1 of 5 right\n") ==
        "0/0 0/0 0 0/0");
  CHECK(known_of("check: 3 of 7 tests, 0 of 6 points!\nhints shown: 2 or 3\nquiz: 4 of 5\n") ==
        "0/0 0/0 0 0/0");
  CHECK(known_of("check: 3 of 7\nhints shown: 99999999999999999999\nquiz: 1 of 123456 right\n") ==
        "0/0 0/0 0 0/0");
  CHECK(known_of(std::string("\0\xFF\n\0", 4) + std::string(100000, 'x') + "\nhints shown: 1\n") ==
        "0/0 0/0 1 0/0");
  CHECK(known_of("check passed once: no\n") == "0/0 0/0 0 0/0");
  record_hints(lesson, 1);  // makes it whole again
  CHECK(read_file(record, "") == "hints shown: 1\n");
  std::filesystem::remove(record);
  std::filesystem::create_directory(record);
  CHECK(known() == "0/0 0/0 0 0/0");
}

TEST_CASE("a reset gives the stub back and keeps every file there was") {
  const Sandbox sandbox;
  CHECK(after_reset() == exercise + " is the stub: there is nothing to reset.\n" + edit);
  CHECK_FALSE(std::filesystem::exists(".progress"));
  for (const std::string n : {"1", "2", "3"}) {
    const std::string mine = "version " + n + "\r\n", aside = ".progress/06-split/exercise-" + n + ".cpp";
    write_output(exercise, mine);
    CHECK(after_reset() == exercise + " is the stub again. What it was is now " + aside + "\n" + edit);
    CHECK(read_file(exercise, "") == stub_text);
    CHECK(read_file(aside, "") == mine);
  }
  CHECK(read_file(".progress/06-split/exercise-1.cpp", "") == "version 1\r\n");

  std::filesystem::remove(exercise);
  CHECK(after_reset() == exercise + " was missing; the stub is there again.\n" + edit);
  CHECK(read_file(exercise, "") == stub_text);

  std::filesystem::remove(exercise);
  std::filesystem::create_directory(exercise);
  CHECK(message_of<FileError>([] { after_reset(); }) ==
        exercise + " cannot be read\n  hint: nothing was changed");
}

TEST_CASE("when the old file cannot be put aside, the new one is not written") {
  const Sandbox sandbox;
  write_output(".progress", "in the way");
  write_output(exercise, "mine");
  CHECK_THROWS_AS(after_reset(), FileError);
  CHECK(read_file(exercise, "") == "mine");
}

TEST_CASE("the next step is the first exercise or quiz that is not done") {
  const Sandbox sandbox;
  std::filesystem::create_directory("lessons/05-averaging");
  const std::vector<std::string> lessons = {lesson, "lessons/05-averaging"};
  const std::string done = "Every exercise is passed, and every quiz all right.\nnext: make\n";
  CHECK(next_step(lessons) ==
        "Before it, without an exercise: make 05\nnext: make 06, and read lessons/06-split/README.md; "
        "then edit lessons/06-split/exercise.cpp,\n      and make 06-check\n");
  write_output(exercise, with(stub_text, "throw 1;", "return 1;"));
  CHECK(next_step(lessons) == "next: make 06-check\n");
  record_check(lesson, {7, 7, 6, 6});
  CHECK(next_step(lessons) == done);
  write_output("lessons/06-split/quiz.txt", "");
  CHECK(next_step(lessons) == "next: make 06-quiz\n");
  record_quiz(lesson, 4, 5);
  CHECK(next_step(lessons) == "next: make 06-quiz\n");
  write_output("lessons/05-averaging/quiz.txt", "");
  CHECK(next_step(lessons) == "next: make 05-quiz\n");
  record_quiz("lessons/05-averaging", 3, 3);
  record_quiz(lesson, 5, 5);
  record_check(lesson, {0, 7, 0, 6});
  CHECK(next_step(lessons) == done);
}

TEST_CASE("the status is a table of at most 100 columns, in the order of the lessons") {
  const Sandbox sandbox;
  write_output("lessons/05-averaging/README.md",
               "# 05-averaging: why one softmax is not enough for a linear caf\xC3\xA9\n");
  write_output("lessons/21-a-rather-long-name/stub.cpp", stub_text);
  write_output("lessons/21-a-rather-long-name/quiz.txt", "");
  const std::vector<std::string> lessons = {"lessons/21-a-rather-long-name", lesson, "lessons/05-averaging"};
  record_check("21-a-rather-long-name", {99999, 99999, 99999, 99999});
  record_quiz("21-a-rather-long-name", 4, 5);
  record_quiz("no-such-lesson", 1, 5);
  const std::string head =
      "lesson          title                                             check       points   hints  quiz\n"
      "05-averaging    why one softmax is not enough for a linear caf??  no exercise -        -      -\n";
  CHECK(
      status_table(lessons) ==
      head +
          "06-split        from one wide row to heads                        not begun   -        0 of 3 -\n"
          "21-a-rather-l..                                                   99999 of .. 99999 .. 0 of 3 4 of 5\n");
  record_check(lesson, {3, 7, 2, 6});
  record_hints(lesson, 2);
  CHECK(status_table({lesson}) ==
        "lesson          title                                             check       points   hints  quiz\n"
        "06-split        from one wide row to heads                        3 of 7      2 of 6   2 of 3 -\n");
}

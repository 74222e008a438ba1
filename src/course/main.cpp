// The program behind the make targets of the course: course COMMAND LESSON-DIRECTORY...
// Exit status 0: done; 1: not yet, or wrong; 2: something is wrong with the set-up.
#include <algorithm>
#include <exception>
#include <fstream>
#include <iostream>

#include "course/check.h"
#include "course/explain.h"
#include "course/hints.h"
#include "course/judge.h"
#include "course/progress.h"
#include "course/prove.h"
#include "course/quiz.h"
#include "course/region.h"
#include "show/output.h"

using namespace headway;

namespace {

using Lessons = std::vector<std::string>;

int quiz(const Lessons& lessons) {
  bool all_right = true;
  for (const std::string& lesson : lessons) {
    const std::vector<Question> questions = read_quiz(lesson + "/quiz.txt");
    std::cout << "Quiz of " << lesson_name(lesson) << "\n";
    const std::optional<int> right = ask(questions, std::cin, std::cout);
    if (!right) return 1;
    record_quiz(lesson, *right, int(questions.size()));
    all_right = all_right && *right == int(questions.size());
  }
  std::cout << (all_right ? "next: make next\n"
                          : "next: read the lesson's README.md again, then ask once more\n");
  return all_right ? 0 : 1;
}

// The file is left alone if it is as it should be, so that make compiles nothing again.
int splice_into(const std::string& lesson, const std::string& path) {
  const Spliced spliced = splice(lesson);
  std::ifstream file(path, std::ios::binary);
  if (!file || read_file(path, "move it out of the way") != spliced.source)
    write_output(path, spliced.source);
  std::cout << spliced.report;
  return 0;
}

int explain(const std::string& lesson, const std::string& path) {
  const std::string log = content_of(path);
  std::cout << explain_build(log);
  if (build_failed(log)) std::cout << "next: " << make_command(lesson, "-check") << " again\n";
  return 0;
}

// What is to be done, and with what: a lesson, or several, or a lesson and files.
int run(const std::string& command, const Lessons& lessons) {
  const std::string& lesson = lessons[0];
  const size_t count = lessons.size();
  const bool about_exercise =
      command == "check" || command == "hint" || command == "solution" || command == "reset";
  if (about_exercise && content_of(lesson + "/stub.cpp").empty()) {
    throw FileError(
        Message(lesson_name(lesson) + " has no exercise").hint("make status shows which lessons have one"));
  }
  if (command == "check" && count == 4) return check({lesson, lessons[1], lessons[2], lessons[3]});
  if (command == "prove" && count == 3) return prove(lesson, lessons[1], lessons[2]);
  if (command == "table" && count == 3) return write_table(lessons[1], lesson, lessons[2]), 0;
  if (command == "explain" && count == 2) return explain(lesson, lessons[1]);
  if (command == "splice" && count == 2) return splice_into(lesson, lessons[1]);
  if (command == "hint" && count == 1) return show_hint(lesson, std::cout), 0;
  if (command == "solution" && count == 1) return show_solution(lesson, std::cin, std::cout) ? 0 : 1;
  if (command == "reset" && count == 1) return reset(lesson, std::cout), 0;
  if (command == "quiz") return quiz(lessons);
  if (command == "next") return std::cout << next_step(lessons), 0;
  if (command == "status") return std::cout << status_table(lessons) << next_step(lessons), 0;
  return -1;
}

}  // namespace

int main(int argc, char** argv) {
  Lessons lessons(argv + std::min(argc, 2), argv + argc);
  for (std::string& lesson : lessons) {
    while (lesson.size() > 1 && lesson.back() == '/') lesson.pop_back();
  }
  try {
    const int status = lessons.empty() ? -1 : run(argv[1], lessons);
    if (status >= 0) return status;
    std::cerr << "course: splice LESSON OUT.cpp | explain LESSON LOG | check LESSON JUDGE PROGRAM TABLE\n"
                 "        table LESSON JUDGE TABLE | prove LESSON JUDGE TABLE\n"
                 "        hint LESSON | solution LESSON | reset LESSON\n"
                 "        quiz LESSON... | next LESSON... | status LESSON...     a LESSON is its directory\n";
  } catch (const std::exception& error) { std::cerr << error.what() << "\n"; }
  return 2;
}

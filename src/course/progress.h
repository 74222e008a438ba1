// What a learner has done, in .progress/<lesson>/ below the current directory: files that a person can read.
// progress.txt holds
//
//   check: 3 of 7 tests, 2 of 6 points
//   check passed once: yes
//   hints shown: 2
//   quiz: 4 of 5 right
//
// and exercise-1.cpp, exercise-2.cpp ... are what the learner had written before each reset. A line that
// cannot be understood counts as missing, and lines are written only from results.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace headway {

struct CheckResult {
  int passed = 0, tests = 0;  // 0 tests: not checked yet
  int points = 0, points_of = 0;
};

struct Progress {
  CheckResult check;         // the last one
  bool passed_once = false;  // the whole check, now or earlier
  int hints_shown = 0;
  int quiz_right = 0, quiz_questions = 0;  // the best so far
};

// A lesson may be given by its directory or its name.
Progress read_progress(const std::string& lesson);
void record_check(const std::string& lesson, const CheckResult& result);
void record_hints(const std::string& lesson, int shown);
void record_quiz(const std::string& lesson, int right, int questions);

// Gives the stub back as exercise.cpp, after putting a copy of the learner's file aside.
void reset(const std::string& lesson, std::ostream& out);

// What to do next: the first lesson, in order of their names, whose check or quiz is not done.
std::string next_step(std::vector<std::string> lessons);
// A table of these lessons.
std::string status_table(std::vector<std::string> lessons);

}  // namespace headway

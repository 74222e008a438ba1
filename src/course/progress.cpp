#include "course/progress.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <ostream>

#include "core/error.h"
#include "course/region.h"
#include "show/output.h"

namespace headway {

namespace {

namespace fs = std::filesystem;

std::string folder(const std::string& lesson) { return ".progress/" + lesson_name(lesson) + "/"; }

bool is_there(const std::string& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));  // a link that leads nowhere is there too
}

// Reads one line; up to five digits a number, so that none is too large.
void read_line(const std::string& line, Progress& to) {
  CheckResult c;
  int a = 0, b = 0, end = -1;
  const char* words = line.c_str();
  const auto whole = [&] { return end == int(line.size()); };
  if (std::sscanf(words, "check: %5d of %5d tests, %5d of %5d points%n", &c.passed, &c.tests, &c.points,
                  &c.points_of, &end) == 4) {
    const bool possible = 0 <= c.passed && c.passed <= c.tests && 0 <= c.points && c.points <= c.points_of;
    if (whole() && possible) to.check = c;
  } else if (line == "check passed once: yes") {
    to.passed_once = true;
  } else if (std::sscanf(words, "hints shown: %5d%n", &a, &end) == 1) {
    if (whole() && 0 <= a && a <= 3) to.hints_shown = a;
  } else if (std::sscanf(words, "quiz: %5d of %5d right%n", &a, &b, &end) == 2) {
    if (whole() && 0 <= a && a <= b) to.quiz_right = a, to.quiz_questions = b;
  }
}

void write_progress(const std::string& lesson, const Progress& p) {
  const CheckResult& c = p.check;
  std::string lines;
  if (c.tests > 0) {
    lines +=
        text("check: ", c.passed, " of ", c.tests, " tests, ", c.points, " of ", c.points_of, " points\n");
  }
  if (p.passed_once) lines += "check passed once: yes\n";
  if (p.hints_shown > 0) lines += text("hints shown: ", p.hints_shown, "\n");
  if (p.quiz_questions > 0) lines += text("quiz: ", p.quiz_right, " of ", p.quiz_questions, " right\n");
  write_output(folder(lesson) + "progress.txt", lines);
}

bool has_exercise(const std::string& lesson) { return is_there(lesson + "/stub.cpp"); }
bool has_quiz(const std::string& lesson) { return is_there(lesson + "/quiz.txt"); }

// The first line of README.md, "# 06-split: from one wide row to heads", without the name.
std::string title(const std::string& lesson) {
  std::ifstream file(lesson + "/README.md");
  std::string line;
  std::getline(file, line);
  const size_t colon = line.find(": ");
  return colon == std::string::npos ? "" : trimmed(line.substr(colon + 2));
}

std::string of(int part, int all) { return all > 0 ? text(part, " of ", all) : "-"; }

std::string row(const std::string (&cells)[6]) {
  const size_t widths[6] = {15, 49, 11, 8, 6, 6};
  std::string line;
  for (size_t i = 0; i < 6; i++) {
    line += shortened(cells[i], widths[i]);
    line.resize(line.size() + widths[i] - std::min(cells[i].size(), widths[i]) + 1, ' ');
  }
  return trimmed(line) + "\n";
}

}  // namespace

Progress read_progress(const std::string& lesson) {
  Progress p;
  std::ifstream file(folder(lesson) + "progress.txt");
  for (std::string line; std::getline(file, line);) read_line(trimmed(line), p);
  p.passed_once = p.passed_once || (p.check.tests > 0 && p.check.passed == p.check.tests);
  return p;
}

void record_check(const std::string& lesson, const CheckResult& result) {
  Progress p = read_progress(lesson);
  p.check = result;
  p.passed_once = p.passed_once || (result.tests > 0 && result.passed == result.tests);
  write_progress(lesson, p);
}

void record_hints(const std::string& lesson, int shown) {
  Progress p = read_progress(lesson);
  p.hints_shown = shown;
  write_progress(lesson, p);
}

void record_quiz(const std::string& lesson, int right, int questions) {
  Progress p = read_progress(lesson);
  if (questions == p.quiz_questions && right <= p.quiz_right) return;
  p.quiz_right = right;
  p.quiz_questions = questions;
  write_progress(lesson, p);
}

void reset(const std::string& lesson, std::ostream& out) {
  const std::string exercise = lesson + "/exercise.cpp";
  const std::string stub = read_file(lesson + "/stub.cpp", no_exercise);
  if (!is_there(exercise)) {
    write_output(exercise, stub);
    out << exercise << " was missing; the stub is there again.\n";
  } else if (const std::string mine = read_file(exercise, "nothing was changed"); mine == stub) {
    out << exercise << " is the stub: there is nothing to reset.\n";
  } else {
    int number = 1;
    while (is_there(text(folder(lesson), "exercise-", number, ".cpp"))) number++;
    const std::string aside = text(folder(lesson), "exercise-", number, ".cpp");
    write_output(aside, mine);
    write_output(exercise, stub);
    out << exercise << " is the stub again. What it was is now " << aside << "\n";
  }
  out << "next: edit " << exercise << ", then " << make_command(lesson, "-check") << "\n";
}

std::string next_step(std::vector<std::string> lessons) {
  std::sort(lessons.begin(), lessons.end());
  std::string before;  // the commands of lessons on the way that have no exercise
  for (const std::string& lesson : lessons) {
    const Progress p = read_progress(lesson);
    if (!has_exercise(lesson)) {
      before += " " + make_command(lesson);
    } else if (p.passed_once) {
      before.clear();
    } else {
      const std::string run = make_command(lesson), check = make_command(lesson, "-check");
      if (!untouched(lesson)) return "next: " + check + "\n";
      const std::string first = before.empty() ? "" : "Before it, without an exercise:" + before + "\n";
      return first + text("next: ", run, ", and read ", lesson, "/README.md; then edit ", lesson,
                          "/exercise.cpp,\n      and ", check, "\n");
    }
    const bool all_right = p.quiz_questions > 0 && p.quiz_right == p.quiz_questions;
    if (has_quiz(lesson) && !all_right) return "next: " + make_command(lesson, "-quiz") + "\n";
  }
  return "Every exercise is passed, and every quiz all right.\nnext: make\n";
}

std::string status_table(std::vector<std::string> lessons) {
  std::sort(lessons.begin(), lessons.end());
  std::string table = row({"lesson", "title", "check", "points", "hints", "quiz"});
  for (const std::string& lesson : lessons) {
    const Progress p = read_progress(lesson);
    const bool exercise = has_exercise(lesson), checked = exercise && p.check.tests > 0;
    const std::string check = !exercise                                                    ? "no exercise"
                              : checked && p.passed_once && p.check.passed < p.check.tests ? "passed once"
                              : checked ? of(p.check.passed, p.check.tests)
                                        : "not begun";
    table += row(
        {lesson_name(lesson), title(lesson), check, checked ? of(p.check.points, p.check.points_of) : "-",
         exercise ? of(p.hints_shown, 3) : "-", has_quiz(lesson) ? of(p.quiz_right, p.quiz_questions) : "-"});
  }
  return table;
}

}  // namespace headway

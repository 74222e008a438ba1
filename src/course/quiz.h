// The quiz of a lesson. A quiz.txt holds questions, each with its answers and a reason for every one of them:
//
//   ? What must D divided by h be?
//   * a whole number | each head takes d_h = D / h numbers of a token
//   - a power of two | 12 = 3 * 4 works as well as 16 = 4 * 4
//
// A line that begins with * is the right answer. Empty lines part nothing and are skipped.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace headway {

struct Answer {
  std::string text;
  std::string reason;
  bool right;
};

struct Question {
  std::string text;
  std::vector<Answer> answers;
};

// FileError, naming file and line, for a file that is not there or not of this form; every question has two
// answers at least and exactly one right one.
std::vector<Question> read_quiz(const std::string& path);

// Asks each question on `out` and reads a letter a line from `in`; says whether it is right, and the reasons.
// Asks again where no answer was named. Returns how many were right, or nothing if `in` ended before the last
// question.
std::optional<int> ask(const std::vector<Question>& questions, std::istream& in, std::ostream& out);

}  // namespace headway

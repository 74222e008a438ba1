#include "course/quiz.h"

#include <algorithm>
#include <fstream>
#include <istream>
#include <ostream>

#include "core/error.h"
#include "course/region.h"

namespace headway {

namespace {

[[noreturn]] void refuse(const std::string& path, int line, const std::string& what) {
  throw FileError(Message(text("quiz: ", path, ", line ", line, ": ", what))
                      .rule("? a question; then - an answer | its reason, and * for the one right answer"));
}

void refuse_incomplete(const std::string& path, int line, const Question& q) {
  const auto right =
      std::count_if(q.answers.begin(), q.answers.end(), [](const Answer& a) { return a.right; });
  if (q.answers.size() < 2) refuse(path, line, "the question before has fewer than two answers");
  if (right != 1) refuse(path, line, text("the question before has ", right, " right answers, not 1"));
}

std::string letter(size_t i) { return std::string(1, char('a' + i)); }

// The answer that a line names, or the number of answers if it names none.
size_t named(const std::string& line, const Question& q) {
  const size_t first = line.find_first_not_of(" \t"), last = line.find_last_not_of(" \t\r");
  if (first == std::string::npos || first != last) return q.answers.size();
  const char c = line[first];
  const size_t i = c >= 'A' && c <= 'Z' ? size_t(c - 'A') : c >= 'a' ? size_t(c - 'a') : q.answers.size();
  return std::min(i, q.answers.size());
}

}  // namespace

std::vector<Question> read_quiz(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    throw FileError(Message(text("quiz: ", path, " cannot be read"))
                        .rule("each lesson with a quiz has a quiz.txt beside its README.md"));
  }
  std::vector<Question> questions;
  std::string line;
  int number = 0;
  while (std::getline(file, line)) {
    number++;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    const std::string rest = line.size() > 2 && line[1] == ' ' ? line.substr(2) : "";
    if (line[0] == '?' && !rest.empty()) {
      if (!questions.empty()) refuse_incomplete(path, number, questions.back());
      questions.push_back({rest, {}});
      continue;
    }
    const size_t bar = rest.find(" | ");
    if ((line[0] != '*' && line[0] != '-') || bar == std::string::npos || bar == 0 ||
        bar + 3 == rest.size()) {
      refuse(path, number, "this is neither a question nor an answer with its reason");
    }
    if (questions.empty()) refuse(path, number, "an answer without a question");
    questions.back().answers.push_back({rest.substr(0, bar), rest.substr(bar + 3), line[0] == '*'});
  }
  if (questions.empty()) refuse(path, number, "there is no question");
  refuse_incomplete(path, number, questions.back());
  return questions;
}

std::optional<int> ask(const std::vector<Question>& questions, std::istream& in, std::ostream& out) {
  int right = 0;
  for (size_t number = 0; number < questions.size(); number++) {
    const Question& q = questions[number];
    out << "\n" << wrapped(text(number + 1, " of ", questions.size(), ". ", q.text), "        ") << "\n";
    for (size_t i = 0; i < q.answers.size(); i++)
      out << "   " << letter(i) << "  " << wrapped(q.answers[i].text, "      ") << "\n";
    size_t chosen = q.answers.size();
    while (chosen == q.answers.size()) {
      out << "   your answer, a to " << letter(q.answers.size() - 1) << ": " << std::flush;
      std::string line;
      if (!std::getline(in, line)) {
        out << "\nThe input ended here: " << number << " of " << questions.size() << " questions answered.\n";
        return {};
      }
      chosen = named(line, q);
      if (chosen == q.answers.size())
        out << "   please type a letter, a to " << letter(q.answers.size() - 1) << ".\n";
    }
    right += q.answers[chosen].right;
    const Answer& answer = q.answers[chosen];
    out << "   " << wrapped(text(answer.right ? "Right: " : "No: ", answer.reason, "."), "      ") << "\n";
    for (size_t i = 0; i < q.answers.size(); i++) {
      const std::string mark = letter(i) + (q.answers[i].right ? " is right: " : ": ");
      if (i != chosen) out << "   " << wrapped(text(mark, q.answers[i].reason, "."), "      ") << "\n";
    }
  }
  out << "\n" << right << " of " << questions.size() << " right.\n";
  return right;
}

}  // namespace headway

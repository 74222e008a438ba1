// The quizzes: each file is well-formed, and asking works from a pipe.
#include "course/quiz.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "catch.h"
#include "core/error.h"

using namespace headway;

namespace {

const std::vector<Question> two = {
    {"One?", {{"yes", "it is one", true}, {"no", "it is", false}}},
    {"Two?", {{"one", "too few", false}, {"two", "just so", true}, {"three", "too many", false}}}};

// What read_quiz says of a file with this text, behind the name of the file; "" if it takes it.
std::string refusal(const std::string& quiz) {
  const std::string path = (std::filesystem::temp_directory_path() / "headway_quiz_test.txt").string();
  std::ofstream(path) << quiz;
  const std::string message = message_of<FileError>([&] { read_quiz(path); });
  std::filesystem::remove(path);
  if (message == "nothing was thrown") return "";
  return message.substr(0, message.find('\n')).substr(std::string("quiz: " + path).size());
}

}  // namespace

TEST_CASE("every quiz has three to five questions, with one right answer and a reason for each") {
  int quizzes = 0;
  for (const auto& lesson : std::filesystem::directory_iterator("lessons")) {
    const std::string path = lesson.path().string() + "/quiz.txt";
    if (!std::filesystem::exists(path)) continue;
    CAPTURE(path);
    const std::vector<Question> questions = read_quiz(path);  // refuses all but one right answer
    CHECK(questions.size() >= 3);
    CHECK(questions.size() <= 5);
    std::vector<size_t> places;  // not always the same letter
    for (const Question& q : questions) {
      const auto right =
          std::find_if(q.answers.begin(), q.answers.end(), [](const Answer& a) { return a.right; });
      places.push_back(size_t(right - q.answers.begin()));
    }
    CHECK(std::count(places.begin(), places.end(), places[0]) < int(places.size()));
    quizzes++;
  }
  CHECK(quizzes >= 4);
}

TEST_CASE("long questions and answers are broken into lines of a terminal") {
  const std::string words =
      "a question of many words, and then of a few more, so many that they do not fit into one "
      "line of a terminal of usual width, nor nearly";
  std::istringstream in("a\n");
  std::ostringstream out;
  CHECK(ask({{words, {{words, words, true}, {"no", words, false}}}}, in, out) == 1);
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);)
    CHECK(line.size() <= 130);  // the prompt has no end of line
  CHECK(out.str().find("\n        ") != std::string::npos);
}

TEST_CASE("a quiz asks, marks and explains, and asks again where no answer was named") {
  std::istringstream in("A\nx\n\n  c \n");
  std::ostringstream out;
  CHECK(ask(two, in, out) == 1);
  CHECK(
      out.str() ==
      "\n1 of 2. One?\n   a  yes\n   b  no\n   your answer, a to b:    Right: it is one.\n   b: it is.\n"
      "\n2 of 2. Two?\n   a  one\n   b  two\n   c  three\n"
      "   your answer, a to c:    please type a letter, a to c.\n   your answer, a to c:    please type a letter, a to c.\n"
      "   your answer, a to c:    No: too many.\n"
      "   a: too few.\n   b is right: just so.\n"
      "\n1 of 2 right.\n");
}

TEST_CASE("a quiz whose input ends stops there, and counts for nothing") {
  std::istringstream in("a\n");
  std::ostringstream out;
  CHECK_FALSE(ask(two, in, out));
  const std::string end = "\nThe input ended here: 1 of 2 questions answered.\n";
  CHECK(out.str().substr(out.str().size() - end.size()) == end);
}

TEST_CASE("a quiz that is not well-formed is refused, with its line") {
  CHECK(refusal("? q\n* a | b\n- c | d\n") == "");
  CHECK(refusal("* a | b\n") == ", line 1: an answer without a question");
  CHECK(refusal("? q\n* a | b\n") == ", line 2: the question before has fewer than two answers");
  CHECK(refusal("? q\n- a | b\n- c | d\n\n? r\n") ==
        ", line 5: the question before has 0 right answers, not 1");
  CHECK(refusal("? q\n* a | b\n* c | d\n") == ", line 3: the question before has 2 right answers, not 1");
  CHECK(refusal("? q\n* a without a reason\n") ==
        ", line 2: this is neither a question nor an answer with its reason");
  CHECK(refusal("? q\n+ a | b\n") == ", line 2: this is neither a question nor an answer with its reason");
  CHECK(refusal("") == ", line 0: there is no question");
}

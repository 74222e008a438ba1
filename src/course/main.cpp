// The program behind `make NN-quiz` and `make quiz`: course quiz LESSON-DIRECTORY...
// Exit status 0: all right; 1: not yet; 2: something is wrong with the set-up.
#include <cstring>
#include <exception>
#include <iostream>

#include "course/quiz.h"

namespace {

int quiz(int count, char** lessons) {
  int asked = 0, right = 0;
  for (int i = 0; i < count; i++) {
    const std::string lesson = lessons[i];
    const std::vector<headway::Question> questions = headway::read_quiz(lesson + "/quiz.txt");
    std::cout << "Quiz of " << lesson.substr(lesson.rfind('/') + 1) << "\n";
    right += headway::ask(questions, std::cin, std::cout);
    asked += int(questions.size());
  }
  if (right < asked) std::cout << "Not all yet: read the lesson's README.md again, then ask once more.\n";
  return right == asked ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 2 && std::strcmp(argv[1], "quiz") == 0) return quiz(argc - 2, argv + 2);
    std::cerr << "course: quiz LESSON-DIRECTORY...\n";
  } catch (const std::exception& error) { std::cerr << error.what() << "\n"; }
  return 2;
}

// Hints come one at a time, and the solution after a pass or a yes.
#include "course/hints.h"

#include <sstream>

#include "catch.h"
#include "core/error.h"
#include "course/progress.h"
#include "course/sandbox.h"

using namespace headway;

namespace {

const std::string lesson = "lessons/06-split";
const std::string path = "lessons/06-split/hints.txt";
const std::string three =
    "hint 1: Two steps.\n\nhint 2: reshape first.\n\n  [B, T, h, d_h]\n\nhint 3: then permute\n";

std::string shown() {
  std::ostringstream out;
  show_hint(lesson, out);
  return out.str();
}

// What is printed, and 'shown' or 'hidden'.
std::string solution(const std::string& input) {
  std::istringstream in(input);
  std::ostringstream out;
  const bool printed = show_solution(lesson, in, out);
  return out.str() + (printed ? "shown" : "hidden");
}

// What read_hints says of a file with this text, behind its name.
std::string refusal(const std::string& hints) {
  write_output(path, hints);
  const std::string message = message_of<FileError>([] { read_hints(path); });
  const std::string start = "hints: " + path,
                    end = "\n  rule: three hints, each begun by a line 'hint 1: its title', in turn";
  if (message.size() < start.size() + end.size()) return message;
  CHECK(message.substr(message.size() - end.size()) == end);
  return message.substr(start.size(), message.size() - start.size() - end.size());
}

}  // namespace

TEST_CASE("the hints are shown in turn, then all of them again") {
  const Sandbox sandbox;
  write_output(path, three);
  CHECK(shown() == "hint 1 of 3: Two steps.\n\n2 left: make 06-hint again\nnext: make 06-check\n");
  CHECK(read_progress(lesson).hints_shown == 1);
  CHECK(
      shown() ==
      "hint 2 of 3: reshape first.\n\n  [B, T, h, d_h]\n\n1 left: make 06-hint again\nnext: make 06-check\n");
  CHECK(
      shown() ==
      "hint 3 of 3: then permute\n\nThis was the last; make 06-hint repeats all three.\nnext: make 06-check\n");
  const std::string all = "hint 1 of 3: Two steps.\n\nhint 2 of 3: reshape first.\n\n  [B, T, h, d_h]\n\n"
                          "hint 3 of 3: then permute\n\nThese were all three.\n"
                          "next: make 06-solution shows the solution, after a yes\n";
  CHECK(shown() == all);
  CHECK(shown() == all);
  CHECK(read_progress(lesson).hints_shown == 3);
}

TEST_CASE("a hints.txt that is not well-formed is refused, with its line") {
  const Sandbox sandbox;
  CHECK(refusal(three) == "nothing was thrown");
  CHECK(refusal("\xEF\xBB\xBF\r\nhint 1: a\r\nhint 2: b\r\nhint at it\r\nhint 3: c") == "nothing was thrown");
  CHECK(read_hints(path) == std::vector<std::string>{"a", "b\nhint at it", "c"});
  CHECK(refusal("") == ", line 0: the file ends after 0 of 3 hints");
  CHECK(refusal("\nHere they are\n" + three) == ", line 2: text above the first hint");
  CHECK(refusal("hint 1: a\nhint 2: b\n") == ", line 2: the file ends after 2 of 3 hints");
  CHECK(refusal("hint 1: a\nhint 3: b\n") == ", line 2: 'hint 2:' must come here");
  CHECK(refusal("hint 1: a\nhint 1: b\n") == ", line 2: 'hint 2:' must come here");
  CHECK(refusal("hint 1: \na\n") == ", line 1: the hint has no title");
  CHECK(refusal(three + "hint 4: d\n") == ", line 8: a fourth hint");
  std::filesystem::remove(path);
  CHECK(message_of<FileError>([] { shown(); }) ==
        "lessons/06-split/hints.txt cannot be read\n"
        "  hint: not every lesson has an exercise: make status shows which do");
  CHECK(read_progress(lesson).hints_shown == 0);
}

TEST_CASE("every hints.txt of the lessons is well-formed") {
  for (const auto& directory : std::filesystem::directory_iterator("lessons")) {
    const std::string hints = directory.path().string() + "/hints.txt";
    if (std::filesystem::exists(hints)) CHECK(read_hints(hints).size() == 3);
  }
}

TEST_CASE("the solution is shown after a pass, or else after a yes") {
  const Sandbox sandbox;
  write_output("lessons/06-split/solution.cpp", with(stub_text, "{ throw 1; }", "{\n  return 1;\n}"));
  const std::string question = "You have not passed the check yet. Show the solution all the same? (y or n) ";
  const std::string region = "\nint split() {\n  return 1;\n}\n\n";
  const std::string write_it = "next: write it in lessons/06-split/exercise.cpp, then make 06-check\n";
  for (const std::string yes : {"y\n", "yes\n", "Yes", " y \r\nn\n"}) {
    CHECK(solution(yes) == question + region + write_it + "shown");
  }
  const std::string hidden = "It stays hidden.\nnext: make 06-hint\nhidden";
  for (const std::string no : {"n\n", "no\n", "\n", "yess\n", "n\ny\n"})
    CHECK(solution(no) == question + hidden);
  CHECK(solution("") == question + "\n" + hidden);

  record_check(lesson, {7, 7, 6, 6});
  CHECK(solution("") == region + "next: make next\nshown");
  record_check(lesson, {3, 7, 2, 6});  // a pass is not lost
  CHECK(solution("") == region + "next: make next\nshown");
}

#include "course/hints.h"

#include <cctype>
#include <istream>
#include <ostream>

#include "core/error.h"
#include "course/progress.h"
#include "course/region.h"

namespace headway {

namespace {

[[noreturn]] void refuse(const std::string& path, size_t line, const std::string& what) {
  throw FileError(Message(text("hints: ", path, ", line ", line, ": ", what))
                      .rule("three hints, each begun by a line 'hint 1: its title', in turn"));
}

// Does the line begin a hint, whatever its number?
bool is_title(const std::string& line) {
  size_t i = 5;
  if (line.rfind("hint ", 0) != 0) return false;
  while (i < line.size() && line[i] >= '0' && line[i] <= '9') i++;
  return i > 5 && i < line.size() && line[i] == ':';
}

bool said_yes(std::istream& in, std::ostream& out) {
  std::string answer;
  if (!std::getline(in, answer)) out << "\n";
  for (char& c : answer) c = char(std::tolower(static_cast<unsigned char>(c)));
  answer = trimmed(answer);
  return answer == "y" || answer == "yes";
}

}  // namespace

std::vector<std::string> read_hints(const std::string& path) {
  const std::vector<std::string> lines = read_lines(path, no_exercise);
  std::vector<std::string> hints;
  for (size_t i = 0; i < lines.size(); i++) {
    if (is_title(lines[i])) {
      const std::string begins = text("hint ", hints.size() + 1, ":");
      if (hints.size() == 3) refuse(path, i + 1, "a fourth hint");
      if (lines[i].rfind(begins, 0) != 0) refuse(path, i + 1, text("'", begins, "' must come here"));
      const std::string title = trimmed(lines[i].substr(begins.size()));
      if (title.empty()) refuse(path, i + 1, "the hint has no title");
      hints.push_back(title + "\n");
    } else if (!hints.empty()) {
      hints.back() += lines[i] + "\n";
    } else if (!trimmed(lines[i]).empty()) {
      refuse(path, i + 1, "text above the first hint");
    }
  }
  if (hints.size() < 3) refuse(path, lines.size(), text("the file ends after ", hints.size(), " of 3 hints"));
  for (std::string& hint : hints) hint.resize(hint.find_last_not_of(" \t\n") + 1);
  return hints;
}

void show_hint(const std::string& lesson, std::ostream& out) {
  const std::vector<std::string> hints = read_hints(lesson + "/hints.txt");
  const size_t shown = size_t(read_progress(lesson).hints_shown);
  const std::string again = make_command(lesson, "-hint");
  for (size_t i = shown == 3 ? 0 : shown; i < (shown == 3 ? 3 : shown + 1); i++) {
    out << "hint " << i + 1 << " of 3: " << hints[i] << "\n\n";
  }
  if (shown == 3) {
    out << "These were all three.\n"
        << "next: " << make_command(lesson, "-solution") << " shows the solution, after a yes\n";
    return;
  }
  record_hints(lesson, int(shown) + 1);
  if (shown < 2) out << 2 - shown << " left: " << again << " again\n";
  if (shown == 2) out << "This was the last; " << again << " repeats all three.\n";
  out << "next: " << make_command(lesson, "-check") << "\n";
}

bool show_solution(const std::string& lesson, std::istream& in, std::ostream& out) {
  const std::string solution = solution_region(lesson);
  const bool passed = read_progress(lesson).passed_once;
  if (!passed) {
    out << "You have not passed the check yet. Show the solution all the same? (y or n) " << std::flush;
    if (!said_yes(in, out)) {
      out << "It stays hidden.\nnext: " << make_command(lesson, "-hint") << "\n";
      return false;
    }
  }
  out << "\n" << solution << "\nnext: ";
  if (passed) out << "make next\n";
  if (!passed)
    out << "write it in " << lesson << "/exercise.cpp, then " << make_command(lesson, "-check") << "\n";
  return true;
}

}  // namespace headway

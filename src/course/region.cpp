#include "course/region.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "core/error.h"

namespace headway {

namespace {

using Lines = std::vector<std::string>;

bool is_begin(const std::string& line) { return trimmed(line).rfind("// BEGIN exercise", 0) == 0; }
bool is_end(const std::string& line) { return trimmed(line) == "// END"; }

// A file and where its marker lines are, counted from 0.
struct Marked {
  std::string path;
  Lines lines;
  std::string hint;
  size_t begin = 0, end = 0;

  [[noreturn]] void refuse(size_t line, const std::string& what) const {
    throw FileError(Message(text("region: ", path, ", line ", line + 1, ": ", what))
                        .rule("the lines '// BEGIN exercise ...' and, below, '// END' stand there once each")
                        .hint(hint));
  }

  // The one line that is this marker.
  size_t find(bool (*is_marker)(const std::string&), const std::string& marker) const {
    const auto first = std::find_if(lines.begin(), lines.end(), is_marker);
    if (first == lines.end()) {
      refuse(lines.empty() ? 0 : lines.size() - 1,
             text("the file ends without a line '", marker, "': put it back"));
    }
    const auto second = std::find_if(first + 1, lines.end(), is_marker);
    const size_t found = size_t(first - lines.begin());
    if (second != lines.end()) {
      refuse(size_t(second - lines.begin()), text("a second '", marker, "'; the first is line ", found + 1));
    }
    return found;
  }
};

Marked read_marked(const std::string& path, const std::string& missing, const std::string& malformed) {
  Marked file{path, read_lines(path, missing), malformed};
  file.begin = file.find(is_begin, "// BEGIN exercise ...");
  file.end = file.find(is_end, "// END");
  if (file.end < file.begin) {
    file.refuse(file.end, text("'// END' stands above '// BEGIN exercise ...', line ", file.begin + 1));
  }
  return file;
}

Marked read_stub(const std::string& lesson) {
  return read_marked(lesson + "/stub.cpp", no_exercise, "this file belongs to the lesson: restore it");
}

Marked read_exercise(const std::string& lesson, const Marked& stub) {
  const std::string reset = make_command(lesson, "-reset");
  Marked file = read_marked(lesson + "/exercise.cpp", text(reset, " gives the stub back"),
                            text(reset, " gives the stub back and keeps your file"));
  const std::string mine = trimmed(file.lines[file.begin]), expected = trimmed(stub.lines[stub.begin]);
  if (mine != expected) {
    file.refuse(file.begin, text("this is '", shortened(mine, 50), "', but stub.cpp has '",
                                 shortened(expected, 50), "'"));
  }
  return file;
}

// A line as it is compared: without blanks around it, and with its number, from 1.
struct Line {
  size_t number;
  std::string words;
};

// Lines from .. to of a file, both included; empty ones do not count.
std::vector<Line> comparable(const Marked& file, size_t from, size_t to) {
  std::vector<Line> out;
  for (size_t i = from; i <= to; i++) {
    const std::string words = trimmed(file.lines[i]);
    if (!words.empty()) out.push_back({i + 1, words});
  }
  return out;
}

// What is new in `mine`, and what is gone from `stub` with nothing new in its place.
std::vector<Line> changes(const std::vector<Line>& stub, const std::vector<Line>& mine) {
  const size_t m = stub.size(), n = mine.size();
  // common[i][j]: how many lines, in order, stub from i and mine from j have in common
  std::vector<std::vector<size_t>> common(m + 1, std::vector<size_t>(n + 1));
  for (size_t i = m; i-- > 0;) {
    for (size_t j = n; j-- > 0;) {
      common[i][j] = stub[i].words == mine[j].words ? common[i + 1][j + 1] + 1
                                                    : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  std::vector<Line> out;
  bool replaced = false;
  for (size_t i = 0, j = 0; i < m || j < n;) {
    if (i < m && j < n && stub[i].words == mine[j].words) {
      replaced = false;
      i++, j++;
    } else if (i == m || (j < n && common[i][j + 1] >= common[i + 1][j])) {
      replaced = true;
      out.push_back(mine[j++]);
    } else {
      if (!replaced) out.push_back({mine[std::min(j, n - 1)].number, "gone: " + stub[i].words});
      i++;
    }
  }
  return out;
}

// The markers themselves are compared too: being equal, they keep what is above apart from what is below.
std::string changed_outside(const Marked& stub, const Marked& mine) {
  std::vector<Line> found = changes(comparable(stub, 0, stub.begin), comparable(mine, 0, mine.begin));
  const std::vector<Line> below = changes(comparable(stub, stub.end, stub.lines.size() - 1),
                                          comparable(mine, mine.end, mine.lines.size() - 1));
  found.insert(found.end(), below.begin(), below.end());
  if (found.empty()) return "";
  std::string report =
      mine.path + ": changed outside BEGIN and END, so not used (what is yours goes between them):\n";
  for (size_t i = 0; i < std::min<size_t>(found.size(), 3); i++) {
    report += text("  line ", found[i].number, ": ", shortened(found[i].words, 80), "\n");
  }
  return found.size() <= 3 ? report : text(report, "  and ", found.size() - 3, " more\n");
}

std::string joined(const Marked& file, size_t from, size_t to) {
  std::string out;
  for (size_t i = from; i < to; i++) out += file.lines[i] + "\n";
  return out;
}

// These lines, told to the compiler by their own file and numbers. The line above may end in a backslash, so
// an empty one goes before.
std::string with_origin(const Marked& file, size_t from, size_t to) {
  return text("\n#line ", from + 1, " \"", file.path, "\"\n", joined(file, from, to));
}

bool begins(const std::string& line, const std::string& directive) {
  std::string dense = trimmed(line);
  while (dense.size() > 1 && dense[0] == '#' && (dense[1] == ' ' || dense[1] == '\t')) dense.erase(1, 1);
  return dense.rfind(directive, 0) == 0;
}

// The #include lines in between, once more: the region stands inside a namespace, where a header may be
// included a second time but not for the first. Those in a comment or behind an #if stay where they are.
std::string headers_of(const Marked& file, size_t from, size_t to) {
  std::string out;
  bool comment = false;
  int conditions = 0;
  for (size_t i = from; i < to; i++) {
    const std::string& line = file.lines[i];
    if (!comment && begins(line, "#if")) conditions++;
    if (!comment && begins(line, "#endif")) conditions--;
    if (!comment && conditions == 0 && begins(line, "#include")) out += with_origin(file, i, i + 1);
    const size_t open = line.rfind("/*"), close = line.rfind("*/");
    if (open != std::string::npos && (close == std::string::npos || close < open))
      comment = true;
    else if (close != std::string::npos)
      comment = false;
  }
  return out;
}

}  // namespace

std::string lesson_name(const std::string& lesson) { return lesson.substr(lesson.rfind('/') + 1); }

std::string make_command(const std::string& lesson, const std::string& suffix) {
  const std::string name = lesson_name(lesson);
  return "make " + name.substr(0, name.find('-')) + suffix;
}

std::string read_file(const std::string& path, const std::string& hint) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  if (file && file.peek() != EOF) bytes << file.rdbuf();
  if (!file.is_open() || file.bad() || bytes.bad())
    throw FileError(Message(path + " cannot be read").hint(hint));
  return bytes.str();
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return file ? read_file(path, "") : "";
}

Lines read_lines(const std::string& path, const std::string& hint) {
  const std::string bytes = read_file(path, hint);
  Lines lines;
  for (size_t at = bytes.compare(0, 3, "\xEF\xBB\xBF") == 0 ? 3 : 0; at < bytes.size();) {
    const size_t end = std::min(bytes.find('\n', at), bytes.size());
    lines.push_back(bytes.substr(at, end - at));
    while (!lines.back().empty() && lines.back().back() == '\r') lines.back().pop_back();
    at = end + 1;
  }
  return lines;
}

std::string wrapped(const std::string& words, const std::string& indent) {
  std::istringstream in(words);
  std::string out, line;
  for (std::string word; in >> word;) {
    if (indent.size() + line.size() + 1 + word.size() > 98) {
      out += line + "\n" + indent;
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return out + line;
}

std::string trimmed(const std::string& line) {
  const size_t first = line.find_first_not_of(" \t\r"), last = line.find_last_not_of(" \t\r");
  return first == std::string::npos ? "" : line.substr(first, last + 1 - first);
}

std::string shortened(const std::string& line, size_t width) {
  std::string out = line.size() > width ? line.substr(0, width - 2) + ".." : line;
  for (char& c : out) c = c >= ' ' && c <= '~' ? c : '?';
  return out;
}

Spliced splice(const std::string& lesson) {
  const Marked stub = read_stub(lesson), mine = read_exercise(lesson, stub);
  const std::string above = headers_of(mine, mine.begin + 1, mine.end) + with_origin(stub, 0, stub.begin + 1);
  const std::string below = with_origin(stub, stub.end, stub.lines.size());
  return {above + with_origin(mine, mine.begin + 1, mine.end) + below, changed_outside(stub, mine)};
}

bool untouched(const std::string& lesson) {
  const Marked stub = read_stub(lesson), mine = read_exercise(lesson, stub);
  return changes(comparable(stub, stub.begin, stub.end), comparable(mine, mine.begin, mine.end)).empty();
}

std::string solution_region(const std::string& lesson) {
  const Marked file =
      read_marked(lesson + "/solution.cpp",
                  "the lesson has no exercise, or this is a hand-out, which comes without solutions",
                  "this file belongs to the lesson: restore it");
  return joined(file, file.begin + 1, file.end);
}

}  // namespace headway

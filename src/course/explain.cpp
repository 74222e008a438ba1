#include "course/explain.h"

#include <sstream>

#include "core/error.h"
#include "course/region.h"

namespace headway {

namespace {

// The function that the linker did not find, without its namespace and parameters; empty if none is missing.
std::string missing_function(const std::string& log) {
  for (const std::string& words :
       {std::string("undefined reference to `"), std::string("undefined symbol: ")}) {
    const size_t found = log.find(words);
    if (found == std::string::npos) continue;
    std::string name = log.substr(found + words.size());
    const std::string local = "(anonymous namespace)::", before = name.substr(0, name.find('\n'));
    const size_t at = before.find(local);
    if (at != std::string::npos) name = name.substr(at + local.size());
    name = name.substr(0, name.find_first_of("('\n"));
    return name.substr(name.rfind(':') + 1);
  }
  return "";
}

std::string not_linked(const std::string& name) {
  return name + " is not linked into an exercise: only core is (core/tensor.h, core/ops.h, core/mask.h).\n" +
         "What a lesson builds is yours to write; if it is a function of your own, its body is missing.\n";
}

// A line of the compiler without the names of our namespaces; what it says is broken, what it quotes is cut.
std::string in_short(std::string line) {
  for (const char* name : {"headway::", "{anonymous}::", "(anonymous namespace)::"}) {
    for (size_t at; (at = line.find(name)) != std::string::npos;) line.erase(at, std::string(name).size());
  }
  const bool says =
      line.find(": error: ") != std::string::npos || line.find(": warning: ") != std::string::npos;
  return says ? wrapped(shortened(line, line.size()), "    ") : shortened(line, 98);
}

// What the lessons build, and a learner may want to call.
const char* const built_by_lessons[] = {"split_heads", "merge_heads", "attention", "MultiheadAttention"};

}  // namespace

bool build_failed(const std::string& log) { return log.find("error: ") != std::string::npos; }

std::string explain_build(const std::string& log) {
  const std::string missing = missing_function(log);
  if (!missing.empty()) return not_linked(missing);
  for (const char* name : built_by_lessons) {
    if (log.find(text("'", name, "' was not declared")) != std::string::npos ||
        log.find(text("undeclared identifier '", name, "'")) != std::string::npos) {
      return not_linked(name);
    }
  }
  std::istringstream in(log);
  std::string out;
  bool behind = false;  // an error in the text of the stub
  int lines = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.find("In file included from") == 0 || line.find("                 from ") == 0) continue;
    behind =
        behind || (line.find("stub.cpp:") != std::string::npos && line.find(" error: ") != std::string::npos);
    if (lines++ < 12) out += in_short(line) + "\n";
  }
  if (!build_failed(log)) return out;
  if (behind) {
    return out +
           "An error shows only behind END, in the text of the stub: is a } missing in your region, or was a\n"
           "function renamed, or its parameters changed?\n";
  }
  return out + "The exercise does not compile yet; the first error is the one to read.\n";
}

}  // namespace headway

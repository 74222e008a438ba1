#include "course/explain.h"

#include <sstream>

namespace headway {

namespace {

// The function that the linker did not find, without its namespace and parameters; empty if none is missing.
std::string missing_function(const std::string& log) {
  for (const std::string& words :
       {std::string("undefined reference to `"), std::string("undefined symbol: ")}) {
    const size_t found = log.find(words);
    if (found == std::string::npos) continue;
    std::string name = log.substr(found + words.size());
    name = name.substr(0, name.find_first_of("('\n"));
    return name.substr(name.rfind(':') + 1);
  }
  return "";
}

}  // namespace

std::string explain_build(const std::string& log) {
  const std::string missing = missing_function(log);
  if (!missing.empty()) {
    return missing +
           " is not linked into an exercise: only core is (core/tensor.h, core/ops.h, core/mask.h).\n" +
           "What a lesson builds is yours to write; if it is a function of your own, its body is missing.\n";
  }
  std::istringstream in(log);
  std::string out;
  int lines = 0;
  for (std::string line; std::getline(in, line) && lines < 18;) {
    if (line.find("In file included from") == 0 || line.find("                 from ") == 0) continue;
    out += line.substr(0, 150) + "\n";
    lines++;
  }
  return out + "The exercise does not compile yet; the first error is the one to read.\n";
}

}  // namespace headway

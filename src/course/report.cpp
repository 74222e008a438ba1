#include "course/report.h"

#include <cstdlib>

namespace headway {

namespace {

std::string unescaped(const std::string& s) {
  const std::pair<const char*, char> entities[] = {
      {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}, {"&amp;", '&'}};
  std::string out;
  for (size_t i = 0; i < s.size(); i++) {
    out += s[i];
    for (const auto& [entity, character] : entities) {
      if (s.compare(i, std::string(entity).size(), entity) != 0) continue;
      out.back() = character;
      i += std::string(entity).size() - 1;
    }
  }
  return out;
}

// What stands between `open` and `close` behind `from`; empty if they are not there.
std::string between(const std::string& s, const std::string& open, const std::string& close,
                    size_t from = 0) {
  const size_t start = s.find(open, from);
  if (start == std::string::npos) return "";
  const size_t stop = s.find(close, start + open.size());
  return stop == std::string::npos ? "" : s.substr(start + open.size(), stop - start - open.size());
}

// The text of the first <element ..>, without the blanks around it.
std::string text_of(const std::string& s, const std::string& element) {
  const std::string all = between(s, "<" + element, "</" + element + ">");
  const size_t behind_tag = std::min(all.find('>'), all.size());
  const size_t first = all.find_first_not_of(" \n", behind_tag + 1), last = all.find_last_not_of(" \n");
  return first == std::string::npos ? "" : unescaped(all.substr(first, last + 1 - first));
}

std::string first_failure(const std::string& test) {
  const std::string thrown = text_of(test, "Exception");
  if (!thrown.empty()) return thrown;
  const size_t expression = test.find("<Expression success=\"false\"");
  if (expression == std::string::npos) return text_of(test, "Failure");
  const std::string failed = test.substr(expression);
  return "expected  " + text_of(failed, "Original") + "\ngot       " + text_of(failed, "Expanded");
}

}  // namespace

std::vector<TestResult> read_report(const std::string& xml) {
  std::vector<TestResult> results;
  for (size_t at = xml.find("<TestCase "); at != std::string::npos; at = xml.find("<TestCase ", at + 1)) {
    const size_t end = xml.find("</TestCase>", at);
    if (end == std::string::npos) break;
    const std::string test = xml.substr(at, end - at);
    const std::string verdict = between(test, "<OverallResult success=\"", "\"");
    if (verdict.empty()) continue;
    results.push_back({.name = unescaped(between(test, " name=\"", "\"")),
                       .points = std::atoi(between(test, "[points:", "]").c_str()),
                       .passed = verdict == "true",
                       .failure = first_failure(test)});
  }
  return results;
}

int declared_tests(const std::string& check_source) {
  int count = 0;
  const std::string declaration = "\nTEST_CASE(";
  for (size_t at = check_source.find(declaration); at != std::string::npos;
       at = check_source.find(declaration, at + 1))
    count++;
  return count;
}

}  // namespace headway

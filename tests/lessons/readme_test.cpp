// A number in a README that differs from what the command prints is a bug; this finds it.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "catch.h"
#include "core/tensor.h"
#include "nn/attention.h"

namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path);
  INFO(path);
  REQUIRE(in.good());
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

// Every number with a decimal point: digits, a point, digits.
std::vector<std::string> decimals(const std::string& text) {
  const std::string digits = "0123456789";
  std::vector<std::string> out;
  for (size_t from = text.find_first_of(digits); from != std::string::npos;) {
    size_t to = std::min(text.find_first_not_of(digits, from), text.size());
    if (to + 1 < text.size() && text[to] == '.' && digits.find(text[to + 1]) != std::string::npos) {
      to = std::min(text.find_first_not_of(digits, to + 1), text.size());
      out.push_back(text.substr(from, to - from));
    }
    from = text.find_first_of(digits, to);
  }
  return out;
}

// What stands in README `lines` but not in `printed`: lines of ```text blocks, which must come in the printed
// order, and in prose every number with a decimal point. Lines that name PyTorch or a paper, or end in (by
// hand), quote others.
std::vector<std::string> unfounded(const std::vector<std::string>& lines, const std::string& printed) {
  const std::vector<std::string> printed_lines = lines_of(printed);
  const std::vector<std::string> numbers = decimals(printed);
  std::vector<std::string> out;
  std::string block;  // the language of the fenced block we are in, or empty
  size_t next = 0;
  for (const std::string& line : lines) {
    if (line.rfind("```", 0) == 0) {
      block = block.empty() ? line : "";
      next = 0;
    } else if (block == "```text") {
      while (next < printed_lines.size() && printed_lines[next] != line) next++;
      if (next++ >= printed_lines.size() && !line.empty()) out.push_back(line);
    } else if (block.empty()) {
      const bool quotes = line.find("PyTorch") != std::string::npos ||
                          line.find("et al.") != std::string::npos ||
                          line.find("(by hand)") != std::string::npos;
      for (const std::string& n : quotes ? std::vector<std::string>{} : decimals(line)) {
        if (std::find(numbers.begin(), numbers.end(), n) == numbers.end()) out.push_back(n + " in: " + line);
      }
    }
  }
  return out;
}

}  // namespace

TEST_CASE("the comparison itself sees a wrong line and a wrong number") {
  const std::string printed = "a 0.25\nb 0.50\n";
  CHECK(unfounded({"It is 0.25.", "```text", "a 0.25", "b 0.50", "```"}, printed).empty());
  CHECK(unfounded({"It is 0.26."}, printed).size() == 1);
  CHECK(unfounded({"```text", "b 0.5", "```"}, printed).size() == 1);
  CHECK(unfounded({"```text", "b 0.50", "a 0.25", "```"}, printed).size() == 1);
  CHECK(unfounded({"PyTorch gives 0.26."}, printed).empty());
  // What is typed into gdb, and what it shows, is for tests/gdb.sh to compare.
  CHECK(unfounded({"```gdb", "break 0.26", "```", "```gdb-output", "0.26", "```"}, printed).empty());
  CHECK(unfounded({"```gdb-output", "0.26", "```", "It is 0.26."}, printed).size() == 1);
}

TEST_CASE("every number in the README of a lesson is what the lesson prints") {
  int lessons = 0;
  for (const auto& entry : std::filesystem::directory_iterator("lessons")) {
    std::string printed = read(entry.path() / "expected.txt");
    if (std::filesystem::exists(entry.path() / "experiment.txt"))
      printed += read(entry.path() / "experiment.txt");
    for (const std::string& fault : unfounded(lines_of(read(entry.path() / "README.md")), printed)) {
      FAIL_CHECK(entry.path().string() << "/README.md: " << fault);
    }
    lessons++;
  }
  CHECK(lessons >= 7);
}

TEST_CASE("the numbers on the front page are what lesson 10 prints") {
  std::vector<std::string> blocks;  // only the fenced text: the prose there holds version numbers
  bool inside = false;
  for (const std::string& line : lines_of(read("README.md"))) {
    if (line.rfind("```", 0) == 0) inside = line == "```text";
    if (inside || line == "```") blocks.push_back(line);
  }
  CHECK(blocks.size() > 4);
  CHECK(unfounded(blocks, read("lessons/10-many-heads/expected.txt")) == std::vector<std::string>{});
}

TEST_CASE("the error message on the front page is the one that is thrown") {
  std::string message;
  try {
    headway::split_heads(headway::Tensor::zeros({2, 5, 10}).named("tokens"), 3);
  } catch (const headway::ShapeError& error) { message = error.what(); }
  CHECK(read("README.md").find("```\n" + message + "\n```") != std::string::npos);
}

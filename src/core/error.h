// Errors that teach. Every mistake a user can make throws one of these, with one message:
//
//   split_heads: embed_dim 10 is not divisible by num_heads 3 (10 = 3 * 3 + 1)
//     x = tokens  [2, 5, 10]
//     rule: head_dim = embed_dim / num_heads must be a whole number
//     hint: with embed_dim 10 use 1, 2, 5 or 10 heads, or make embed_dim 9 or 12
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace headway {

using Shape = std::vector<int64_t>;

// "[2, 5, 10]"; a scalar is "[]".
std::string to_text(const Shape& shape);

// The product of the sizes. Throws ShapeError for a negative size and for more numbers than a machine holds.
int64_t element_count(const Shape& shape);

// Sizes that disagree.
struct ShapeError : std::runtime_error {
  using runtime_error::runtime_error;
};
// A value out of its range.
struct ValueError : std::runtime_error {
  using runtime_error::runtime_error;
};
// A file that is not there or not whole.
struct FileError : std::runtime_error {
  using runtime_error::runtime_error;
};

// Joins its arguments into one string: texts, characters and numbers. A fraction gets six digits at most.
inline void append_text(std::string& out, const std::string& part) { out += part; }
inline void append_text(std::string& out, std::string_view part) { out += part; }
inline void append_text(std::string& out, const char* part) { out += part; }
inline void append_text(std::string& out, char part) { out += part; }
void append_text(std::string& out, double part);
template <class Whole>
void append_text(std::string& out, const Whole& part) {
  out += std::to_string(part);
}
inline void append_text(std::string& out, float part) { append_text(out, double(part)); }

template <class... Parts>
std::string text(const Parts&... parts) {
  std::string out;
  (append_text(out, parts), ...);
  return out;
}

// Builds the message above, line by line.
class Message {
public:
  explicit Message(std::string what_was_asked) : lines_(std::move(what_was_asked)) {}
  Message& tensor(const std::string& role, const std::string& name, const Shape& shape);
  Message& fact(const std::string& line);
  Message& rule(const std::string& line) { return fact("rule: " + line); }
  Message& hint(const std::string& line) { return fact("hint: " + line); }
  operator std::string() const { return lines_; }

private:
  std::string lines_;
};

}  // namespace headway

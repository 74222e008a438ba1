#include "core/error.h"

#include <cstdio>

namespace headway {

std::string to_text(const Shape& shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); i++) out += (i ? ", " : "") + std::to_string(shape[i]);
  return out + "]";
}

void append_text(std::string& out, double part) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%g", part);
  out += digits;
}

int64_t element_count(const Shape& shape) {
  const int64_t most = int64_t(1) << 40;  // 4 TB of floats: more than any machine this runs on
  int64_t count = 1;
  bool too_many = false;
  for (int64_t size : shape) {
    if (size < 0) {
      throw ShapeError(Message(text("shape ", to_text(shape), " has the negative size ", size))
                           .rule("every size of a shape is 0 or more")
                           .hint("only reshape takes a -1, once, for the size that is left over"));
    }
    int64_t product = 0;
    const bool overflow = __builtin_mul_overflow(count, size, &product);
    too_many = too_many || overflow || product >= most;
    count = too_many && size != 0 ? count : product;
  }
  if (too_many && count != 0) {
    throw ShapeError(Message(text("shape ", to_text(shape), " asks for ", most, " numbers or more"))
                         .rule("the sizes multiplied must stay below 2^40")
                         .hint("look for a size that was meant as a value, or for two sizes swapped"));
  }
  return count;
}

Message& Message::tensor(const std::string& role, const std::string& name, const Shape& shape) {
  const std::string label = name.empty() || name == role ? role : role + " = " + name;
  return fact(label + "  " + to_text(shape));
}

Message& Message::fact(const std::string& line) {
  lines_ += "\n  " + line;
  return *this;
}

}  // namespace headway

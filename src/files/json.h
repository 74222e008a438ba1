// A small JSON reader (RFC 8259): checkpoint headers, case descriptions, results. It takes any bytes: the
// answer is a value or a FileError that gives line and column.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace headway {

struct Json {
  enum class Kind { null, boolean, number, string, array, object };

  Kind kind = Kind::null;
  bool truth = false;             // of a boolean
  double value = 0;               // of a number
  std::string words;              // of a string, in UTF-8
  std::vector<Json> items;        // of an array; of an object its values, in file order
  std::vector<std::string> keys;  // of an object: keys[i] belongs to items[i]

  // The value of a key; null if this is no object or has no such key.
  const Json* find(std::string_view key) const;
  // The same for what must be there and must be of one kind: FileError otherwise.
  const Json& at(std::string_view key) const;
  const std::string& text() const;
  double number() const;
  int64_t integer() const;  // a whole number up to 2^53, the last that a double holds exactly
};

// `name` stands for the text in messages; it is usually the path of its file.
Json parse_json(std::string_view text, const std::string& name);
Json read_json(const std::string& path);

}  // namespace headway

#include "files/json.h"

#include <cmath>
#include <fstream>
#include <iterator>
#include <locale>
#include <set>
#include <sstream>

namespace headway {
namespace {

constexpr int max_depth = 64;  // values inside values: the parser calls itself once for each level
constexpr std::string_view blank = " \t\r\n", digit = "0123456789";

class Parser {
public:
  Parser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  Json document() {
    Json json = value(0);
    if (at_ < text_.size()) fail("the end of the text");
    return json;
  }

private:
  [[noreturn]] void fail(const std::string& expected) const {
    const std::string_view before = text_.substr(0, at_);
    size_t line = 1;
    for (char c : before) line += c == '\n';
    const size_t column = at_ - (before.rfind('\n') + 1) + 1;  // rfind gives -1 on the first line
    std::string found = "the end of the text";
    if (at_ < text_.size()) {
      const int byte = static_cast<unsigned char>(text_[at_]);
      found = byte > ' ' && byte < 127 ? text("'", text_[at_], "'") : text("the byte ", byte);
    }
    throw FileError(text("json: ", name_, ", line ", line, ", column ", column, ": expected ", expected,
                         ", found ", found));
  }

  bool is_one_of(std::string_view set) const {
    return at_ < text_.size() && set.find(text_[at_]) != std::string_view::npos;
  }
  bool take(std::string_view set) {
    const bool here = is_one_of(set);
    at_ += here;
    return here;
  }
  size_t skip(std::string_view set) {
    size_t count = 0;
    while (take(set)) count++;
    return count;
  }

  // A value and the space around it.
  Json value(int depth) {
    skip(blank);
    if (depth > max_depth) fail(text("at most ", max_depth, " values inside each other"));
    Json json;
    if (take("{")) {
      object(json, depth);
    } else if (take("[")) {
      array(json, depth);
    } else if (take("\"")) {
      json.kind = Json::Kind::string;
      json.words = string();
    } else if (is_one_of("tfn")) {
      word(json);
    } else {
      number(json);
    }
    skip(blank);
    return json;
  }

  void object(Json& json, int depth) {
    json.kind = Json::Kind::object;
    std::set<std::string> seen;
    skip(blank);
    if (take("}")) return;
    do {
      skip(blank);
      if (!take("\"")) fail("a key in quotes");
      json.keys.push_back(string());
      if (!seen.insert(json.keys.back()).second)
        fail(text("each key once, but \"", json.keys.back(), "\" is back"));
      skip(blank);
      if (!take(":")) fail("':' after a key");
      json.items.push_back(value(depth + 1));
    } while (take(","));
    if (!take("}")) fail("',' or '}'");
  }

  void array(Json& json, int depth) {
    json.kind = Json::Kind::array;
    skip(blank);
    if (take("]")) return;
    do { json.items.push_back(value(depth + 1)); } while (take(","));
    if (!take("]")) fail("',' or ']'");
  }

  void word(Json& json) {
    const std::string_view word = text_[at_] == 't' ? "true" : text_[at_] == 'f' ? "false" : "null";
    if (text_.substr(at_, word.size()) != word) fail(text("the word ", word));
    at_ += word.size();
    json.kind = word == "null" ? Json::Kind::null : Json::Kind::boolean;
    json.truth = word == "true";
  }

  // -? digits (. digits)? ([eE] [+-]? digits)?, and no 0 before another digit.
  void number(Json& json) {
    const size_t start = at_;
    const bool negative = take("-");
    if (!take("0") && !skip(digit)) fail(negative ? "a digit" : "a value");
    if (take(".") && !skip(digit)) fail("a digit");
    if (take("eE")) {
      take("+-");
      if (!skip(digit)) fail("a digit");
    }
    std::istringstream in(std::string(text_.substr(start, at_ - start)));
    in.imbue(std::locale::classic());
    json.kind = Json::Kind::number;
    if (!(in >> json.value)) fail("a number that a double can hold before this");
  }

  std::string string() {
    std::string out;
    while (!take("\"")) {
      if (at_ == text_.size()) fail("a quote that ends the string");
      if (static_cast<unsigned char>(text_[at_]) < ' ')
        fail("\\n, \\t or \\u00.. for this character in a string");
      if (take("\\")) {
        escape(out);
      } else {
        out += text_[at_++];
      }
    }
    return out;
  }

  void escape(std::string& out) {
    const std::string_view letters = "\"\\/bfnrtu", meanings = "\"\\/\b\f\n\r\t";
    if (!is_one_of(letters)) fail("one of \" \\ / b f n r t u after a backslash");
    const size_t i = letters.find(text_[at_++]);
    if (i < meanings.size()) {
      out += meanings[i];
    } else {
      append_utf8(out, code_point());
    }
  }

  // Beyond U+FFFF a character is written as two halves: D800-DBFF, then DC00-DFFF.
  uint32_t code_point() {
    const uint32_t first = four_hex_digits();
    if (first < 0xD800 || first > 0xDFFF) return first;
    const bool pair = first < 0xDC00 && take("\\") && take("u");
    const uint32_t second = pair ? four_hex_digits() : 0;
    if (second < 0xDC00 || second > 0xDFFF) fail("a pair \\uD8.. \\uDC.. before this");
    return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
  }

  uint32_t four_hex_digits() {
    const std::string_view hex = "0123456789abcdefABCDEF";
    uint32_t code = 0;
    for (int left = 4; left > 0; left--) {
      if (!is_one_of(hex)) fail("four hexadecimal digits after \\u");
      const size_t i = hex.find(text_[at_++]);
      code = code * 16 + uint32_t(i < 16 ? i : i - 6);
    }
    return code;
  }

  // The first byte tells how many follow; each of these carries 6 bits.
  static void append_utf8(std::string& out, uint32_t code) {
    const int more = (code >= 0x80) + (code >= 0x800) + (code >= 0x10000);
    const uint32_t lead[] = {0, 0xC0, 0xE0, 0xF0};
    out += char(lead[more] | (code >> (6 * more)));
    for (int i = more - 1; i >= 0; i--) out += char(0x80 | ((code >> (6 * i)) & 0x3F));
  }

  std::string_view text_;
  const std::string& name_;
  size_t at_ = 0;
};

void expect(const Json& json, Json::Kind kind) {
  const char* const names[] = {"null", "true or false", "a number", "a string", "an array", "an object"};
  if (json.kind == kind) return;
  throw FileError(text("json: expected ", names[int(kind)], ", found ", names[int(json.kind)]));
}

}  // namespace

const Json* Json::find(std::string_view key) const {
  for (size_t i = 0; i < keys.size(); i++) {
    if (keys[i] == key) return &items[i];
  }
  return nullptr;
}

const Json& Json::at(std::string_view key) const {
  expect(*this, Kind::object);
  if (const Json* json = find(key)) return *json;
  std::string there;
  for (const std::string& k : keys) there += (there.empty() ? "" : ", ") + k;
  throw FileError(
      Message(headway::text("json: there is no \"", key, "\" in an object")).fact("keys: " + there));
}

const std::string& Json::text() const {
  expect(*this, Kind::string);
  return words;
}

double Json::number() const {
  expect(*this, Kind::number);
  return value;
}

int64_t Json::integer() const {
  expect(*this, Kind::number);
  if (value == std::trunc(value) && std::fabs(value) <= 9007199254740992.0) return int64_t(value);
  throw FileError(headway::text("json: expected a whole number up to 2^53, found ", value));
}

Json parse_json(std::string_view text, const std::string& name) { return Parser(text, name).document(); }

Json read_json(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in) throw FileError(text("json: cannot read ", path));
  return parse_json(content, path);
}

}  // namespace headway

// The JSON reader: values, the whole text of its errors, and any bytes at all.
#include "catch.h"
#include "core/random.h"
#include "files/json.h"

#include <filesystem>
#include <fstream>

using namespace headway;

namespace {

// The message of the FileError that a text ends in; empty if it is read.
std::string error_of(const std::string& text) {
  try {
    parse_json(text, "t.json");
  } catch (const FileError& error) { return error.what(); }
  return "";
}

std::string error_at(int line, int column, const std::string& rest) {
  return text("json: t.json, line ", line, ", column ", column, ": ", rest);
}

template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const FileError& error) { return error.what(); }
  return "";
}

std::string nested(int depth) {
  return std::string(size_t(depth), '[') + "1" + std::string(size_t(depth), ']');
}

}  // namespace

TEST_CASE("json: every kind of value is read") {
  const Json json =
      parse_json(" { \"a\" : [ 1 , -2.5e1, true, false, null, \"x\", [], {} ] }\r\n\t", "t.json");
  CHECK(json.kind == Json::Kind::object);
  const std::vector<Json>& items = json.at("a").items;
  REQUIRE(items.size() == 8);
  CHECK(items[0].integer() == 1);
  CHECK(items[1].number() == -25);
  CHECK(items[2].kind == Json::Kind::boolean);
  CHECK(items[2].truth);
  CHECK(items[3].kind == Json::Kind::boolean);
  CHECK_FALSE(items[3].truth);
  CHECK(items[4].kind == Json::Kind::null);
  CHECK(items[5].text() == "x");
  CHECK((items[6].kind == Json::Kind::array && items[6].items.empty()));
  CHECK((items[7].kind == Json::Kind::object && items[7].items.empty()));
}

TEST_CASE("json: an object keeps the order of the file") {
  const Json json = parse_json("{\"z\": 1, \"a\": 2, \"m\": 3}", "t.json");
  CHECK(json.keys == std::vector<std::string>{"z", "a", "m"});
  CHECK(json.items[1].integer() == 2);
  CHECK(json.find("b") == nullptr);
  CHECK(parse_json("[1]", "t.json").find("b") == nullptr);
}

TEST_CASE("json: numbers have the value that is written") {
  for (const auto& [written, value] :
       std::vector<std::pair<std::string, double>>{{"0", 0.0},
                                                   {"-0", -0.0},
                                                   {"0.1", 0.1},
                                                   {"1E+2", 100},
                                                   {"12e-1", 1.2},
                                                   {"9007199254740992", 9007199254740992.0},
                                                   {"1.7976931348623157e308", 1.7976931348623157e308},
                                                   {"0.00001", 1e-5}}) {
    CHECK(parse_json(written, "t.json").number() == value);
  }
}

TEST_CASE("json: escapes become UTF-8") {
  CHECK(parse_json(R"("\"\\\/\b\f\n\r\t")", "t.json").text() == "\"\\/\b\f\n\r\t");
  CHECK(parse_json(R"("A\u00e9\u20AC\ud83d\ude00")", "t.json").text() ==
        "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  CHECK(parse_json("\"\xC3\xA9\"", "t.json").text() == "\xC3\xA9");
}

TEST_CASE("json: an error gives line and column, what was expected and what stands there") {
  CHECK(error_of("") == error_at(1, 1, "expected a value, found the end of the text"));
  CHECK(error_of("{\n  \"a\": 1,\n  b\n}") == error_at(3, 3, "expected a key in quotes, found 'b'"));
  CHECK(error_of("{\"a\" 1}") == error_at(1, 6, "expected ':' after a key, found '1'"));
  CHECK(error_of("{\"a\": 1 ]") == error_at(1, 9, "expected ',' or '}', found ']'"));
  CHECK(error_of("[1,\n 2") == error_at(2, 3, "expected ',' or ']', found the end of the text"));
  CHECK(error_of("[1,]") == error_at(1, 4, "expected a value, found ']'"));
  CHECK(error_of("{\"a\": 1, \"a\": 2}") ==
        error_at(1, 13, "expected each key once, but \"a\" is back, found ':'"));
  CHECK(error_of("1 2") == error_at(1, 3, "expected the end of the text, found '2'"));
  CHECK(error_of("[true, fals]") == error_at(1, 8, "expected the word false, found 'f'"));
  CHECK(error_of("NaN") == error_at(1, 1, "expected a value, found 'N'"));
  CHECK(error_of("\xFF") == error_at(1, 1, "expected a value, found the byte 255"));
}

TEST_CASE("json: numbers and strings are held to the grammar") {
  CHECK(error_of("-x") == error_at(1, 2, "expected a digit, found 'x'"));
  CHECK(error_of("1.") == error_at(1, 3, "expected a digit, found the end of the text"));
  CHECK(error_of("1e+") == error_at(1, 4, "expected a digit, found the end of the text"));
  CHECK(error_of("01") == error_at(1, 2, "expected the end of the text, found '1'"));
  CHECK(error_of("+1") == error_at(1, 1, "expected a value, found '+'"));
  CHECK(error_of("1e999") ==
        error_at(1, 6, "expected a number that a double can hold before this, found the end of the text"));
  CHECK(error_of("\"abc") ==
        error_at(1, 5, "expected a quote that ends the string, found the end of the text"));
  CHECK(error_of("\"a\nb\"") ==
        error_at(1, 3, "expected \\n, \\t or \\u00.. for this character in a string, found the byte 10"));
  CHECK(error_of("\"\\x\"") ==
        error_at(1, 3, "expected one of \" \\ / b f n r t u after a backslash, found 'x'"));
  CHECK(error_of("\"\\u12g4\"") == error_at(1, 6, "expected four hexadecimal digits after \\u, found 'g'"));
  CHECK(error_of("\"\\ud83d!\"") == error_at(1, 8, "expected a pair \\uD8.. \\uDC.. before this, found '!'"));
  CHECK(error_of("\"\\udc00\"") == error_at(1, 8, "expected a pair \\uD8.. \\uDC.. before this, found '\"'"));
}

TEST_CASE("json: values inside values end at a depth of 64") {
  CHECK(error_of(nested(64)).empty());
  CHECK(error_of(nested(65)) == error_at(1, 66, "expected at most 64 values inside each other, found '1'"));
  CHECK(error_of(std::string(1000000, '[')) ==
        error_at(1, 66, "expected at most 64 values inside each other, found '['"));
}

TEST_CASE("json: asking for what is not there says what is") {
  const Json json = parse_json("{\"heads\": 4, \"name\": \"x\", \"rate\": 0.5}", "t.json");
  CHECK(message_of([&] { json.at("head"); }) ==
        "json: there is no \"head\" in an object\n  keys: heads, name, rate");
  CHECK(message_of([&] { json.at("name").at("x"); }) == "json: expected an object, found a string");
  CHECK(message_of([&] { json.at("heads").text(); }) == "json: expected a string, found a number");
  CHECK(message_of([&] { json.at("name").number(); }) == "json: expected a number, found a string");
  CHECK(message_of([&] { json.at("rate").integer(); }) ==
        "json: expected a whole number up to 2^53, found 0.5");
  CHECK(message_of([&] { read_json("build/no/such.json"); }) == "json: cannot read build/no/such.json");
}

TEST_CASE("json: a file is read as it stands") {
  std::filesystem::create_directories("build/out/files-test");
  std::ofstream("build/out/files-test/a.json", std::ios::binary) << "{\"a\":\r\n [1, 2]}\n";
  CHECK(read_json("build/out/files-test/a.json").at("a").items.size() == 2);
}

TEST_CASE("json: damaged text gives a value or a FileError") {
  const std::string good =
      R"({"a": [1, -2.5e1, true, null], "b\u00e9": {"c": "x\ud83d\ude00\n", "d": [[[]]]}})";
  Random random(1);
  int read = 0, refused = 0;
  for (int round = 0; round < 20000; round++) {
    std::string text = good;
    for (int flips = 1 + random.below(4); flips > 0; flips--) {
      text[size_t(random.below(int(text.size())))] = char(random.below(256));
    }
    text.resize(size_t(random.below(int(text.size())) + 1));
    (error_of(text).empty() ? read : refused)++;
  }
  CHECK(read + refused == 20000);
  CHECK(refused > 10000);
}

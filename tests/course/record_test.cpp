// The table of known mistakes: which one a wrong answer belongs to, and when it belongs to none.
#include "course/record.h"

#include <limits>

#include "catch.h"
#include "course/sandbox.h"

using namespace headway;

namespace {

Outcome value(std::vector<Scalar> numbers) {
  return {.shape = {int64_t(numbers.size())}, .numbers = numbers};
}
const Outcome error = {.kind = Outcome::refused, .message = "no"};

// Three requests; the solution answers 1, 2 and an error.
const std::vector<Record> table = {{"solution", "", 1, value({1})},
                                   {"solution", "", 2, value({2})},
                                   {"solution", "", 3, error},
                                   {"early", "early!", 1, value({7})},
                                   {"early", "early!", 2, value({2})},
                                   {"early", "early!", 3, error},
                                   {"both", "both!", 1, value({7})},
                                   {"both", "both!", 2, value({8})},
                                   {"both", "both!", 3, error},
                                   {"late", "late!", 1, value({1})},
                                   {"late", "late!", 2, value({2})},
                                   {"late", "late!", 3, value({0})},
                                   {"throws", "throws!", 1, error},
                                   {"early twin", "early!", 1, value({7})},
                                   {"early twin", "early!", 2, value({2})},
                                   {"early twin", "early!", 3, error}};

// Whom these answers to requests 1, 2, 3 are taken for.
std::string taken_for(const std::vector<Outcome>& answers) {
  std::vector<Record> learner;
  for (size_t i = 0; i < answers.size(); i++) learner.push_back({"learner", "", int64_t(i + 1), answers[i]});
  const Likeness like = find_mistake(learner, table);
  return like.mistake ? (like.in_all ? "" : "perhaps ") + like.mistake->who : "";
}

}  // namespace

TEST_CASE("a mistake is found by the first wrong answer, and by what else agrees") {
  CHECK(taken_for({value({7}), value({2}), error}) == "early");
  CHECK(taken_for({value({7}), value({8}), error}) == "both");
  CHECK(taken_for({value({7}), value({9}), error}) == "perhaps early");
  CHECK(taken_for({value({7}), {.kind = Outcome::not_done}, error}) ==
        "early");  // not written yet is no answer
  CHECK(taken_for({value({1}), value({2}), value({0})}) == "late");
  CHECK(taken_for({value({1}), value({8}), error}) == "both");          // half of it is mended
  CHECK(taken_for({value({Scalar(7.00001)}), value({2})}) == "early");  // rounding is no other mistake
}

TEST_CASE("no mistake is named where none was made, or none that is known, or no answer came") {
  CHECK(taken_for({value({1}), value({2}), error}) == "");
  CHECK(taken_for({value({6}), value({2}), error}) == "");
  CHECK(taken_for({error, value({8}), error}) == "");
  CHECK(taken_for({value({7, 7}), value({2}), error}) == "");
  const std::vector<Record> not_in_table = {{"learner", "", 9, value({7})}};
  CHECK(find_mistake(not_in_table, table).mistake == nullptr);
}

TEST_CASE("answers are the same up to rounding; NaN is like NaN, infinity like itself") {
  const Scalar nan = std::numeric_limits<Scalar>::quiet_NaN(),
               infinite = std::numeric_limits<Scalar>::infinity();
  CHECK(same_answer(value({nan, 1, infinite}), value({nan, 1, infinite})));
  CHECK_FALSE(same_answer(value({nan}), value({1})));
  CHECK_FALSE(same_answer(value({1}), value({nan})));
  CHECK_FALSE(same_answer(value({infinite}), value({-infinite})));
  CHECK_FALSE(same_answer(value({1}), value({Scalar(1.001)})));
  CHECK(same_answer(value({1000}), value({Scalar(1000.01)})));
  CHECK_FALSE(same_answer({.shape = {1, 2}, .numbers = {1, 2}}, {.shape = {2, 1}, .numbers = {1, 2}}));
  CHECK_FALSE(same_answer(value({1}), error));
  CHECK_FALSE(same_answer({.kind = Outcome::not_done}, {.kind = Outcome::refused}));
}

TEST_CASE("records come back from their file as they were; another file is refused") {
  const Sandbox sandbox;
  CHECK(read_records("answers.txt").empty());
  append_record("answers.txt", {"a b", "why,\nso", hash_of("x"), value({1, 2})});
  append_record("answers.txt", {"c", "", hash_of("y"), error});
  const std::vector<Record> back = read_records("answers.txt");
  REQUIRE(back.size() == 2);
  CHECK(back[0].who == "a b");
  CHECK(back[0].diagnosis == "why,\nso");
  CHECK(back[0].request == hash_of("x"));
  CHECK(back[0].outcome.numbers == std::vector<Scalar>{1, 2});
  CHECK(back[1].outcome.kind == Outcome::refused);
  CHECK(back[1].outcome.message == "no");
  CHECK(hash_of("x") != hash_of("y"));
  write_output("foreign.txt", "hello\n");
  CHECK(message_of<FileError>([] { read_records("foreign.txt"); }) ==
        "'foreign.txt' is not a record of answers\n  hint: remove it: make writes it anew");
}

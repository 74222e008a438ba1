// Calls as text: every bit of a number arrives, broken text is refused, and a candidate answers by name.
#include "course/wire.h"

#include <fcntl.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "catch.h"
#include "course/candidate.h"

using namespace headway;

namespace {

Tensor twice(const Tensor& x, int64_t times) {
  if (times == 0) throw ValueError("no times");
  if (times == 1) throw NotDone("twice");
  if (times == 2) throw 5;
  if (times == 3) return Tensor();
  if (times == 5) Tensor(x).mutable_values()[0] = 7;
  if (times == 6) return Tensor::zeros({1000001});
  return scale(x, 2);  // the shape of x
}

Allow last_key_only(const std::vector<int>& lengths) {
  return Allow({1, int64_t(lengths.size())}, {static_cast<unsigned char>(lengths[0]), 1});
}

const Candidate candidate("tests/course/wire_test.cpp", {{"twice", twice}, {"last_key_only", last_key_only}});

Outcome call_twice(int64_t times) {
  std::string request;
  put(request, std::string("twice"));
  put(request, Tensor::from({1, 2}, {1, 3}));
  put(request, times);
  return answer(candidate, request);
}

}  // namespace

TEST_CASE("numbers arrive with all their bits, also those that are none") {
  const Scalar third = Scalar(1) / 3, smallest = std::numeric_limits<Scalar>::denorm_min();
  const Scalar infinite = std::numeric_limits<Scalar>::infinity();
  const Tensor sent = Tensor::from({2, 3}, {third, -third, smallest, infinite, -infinite, Scalar(-0.0)});
  std::string text;
  put(text, sent);
  put(text, int64_t(-7));
  put(text, std::string("two words\nand a line"));
  put(text, std::string());
  put(text, std::vector<int>{});
  put(text, std::numeric_limits<Scalar>::quiet_NaN() == 0 ? sent : Tensor::full({1}, std::nanf("")));
  Reader in(text);
  const Tensor came = in.take<Tensor>();
  CHECK(came.shape() == sent.shape());
  CHECK(std::memcmp(came.data(), sent.data(), 6 * sizeof(Scalar)) == 0);
  CHECK(in.take<int64_t>() == -7);
  CHECK(in.take<std::string>() == "two words\nand a line");
  CHECK(in.take<std::string>() == "");
  CHECK(in.take<std::vector<int>>().empty());
  CHECK(std::isnan(in.take<Tensor>().item()));
  CHECK(in.at_end());
}

TEST_CASE("text that put did not write is refused, wherever it breaks") {
  std::string whole;
  put(whole, Outcome{.shape = {2}, .numbers = {1, 2}, .message = "why"});
  for (size_t kept = 0; kept < whole.size(); kept++) {
    const std::string broken = whole.substr(0, kept);
    CHECK_THROWS_AS(Reader(broken).take<Outcome>(), ValueError);
  }
  const std::string promises = "99999999999 1 ", words = "one two",
                    behind_zero = std::string("1") + '\0' + " ";
  CHECK_THROWS_AS(Reader(promises).take<std::vector<int>>(), ValueError);
  CHECK_THROWS_AS(Reader(promises).take<std::string>(), ValueError);
  CHECK_THROWS_AS(Reader(words).take<int64_t>(), ValueError);
  CHECK_THROWS_AS(Reader(behind_zero).take<int64_t>(), ValueError);
}

TEST_CASE("what a function returns or throws becomes an outcome") {
  CHECK(call_twice(4).numbers == std::vector<Scalar>{2, 6});
  CHECK(call_twice(4).shape == Shape{1, 2});
  CHECK(call_twice(0).kind == Outcome::refused);
  CHECK(call_twice(0).message == "no times");
  CHECK(call_twice(1).kind == Outcome::not_done);
  CHECK(call_twice(1).message.find("twice is not written yet: ") == 0);
  CHECK(call_twice(1).message.find("wire_test.cpp, line 20") != std::string::npos);
  CHECK(call_twice(2).message == "something was thrown that is no std::exception");
  CHECK(call_twice(3).kind == Outcome::refused);  // a Tensor without numbers
  CHECK(call_twice(5).message ==
        "the function wrote into what it was given\n"
        "  rule: Tensor y = x makes a second handle on the same numbers, and copies none\n"
        "  hint: Tensor y = Tensor::from(x.shape(), x.values()) copies them");
}

TEST_CASE("a function with other parameters than it is called with says so") {
  const std::string message = "the function takes other arguments than the check gives it\n"
                              "  hint: leave its declaration as it was in the stub";
  std::string too_few, too_many;
  put(too_few, std::string("twice"));
  put(too_few, Tensor::zeros({1}));
  CHECK(answer(candidate, too_few).message == message);
  put(too_many, std::string("twice"));
  put(too_many, Tensor::zeros({1}));
  put(too_many, int64_t(4));
  put(too_many, int64_t(4));
  CHECK(answer(candidate, too_many).message == message);
}

TEST_CASE("sizes beyond the whole numbers of a float arrive too; a huge result is refused") {
  std::string text;
  put(text, Outcome{.shape = {0, 16777217}});
  CHECK(Reader(text).take<Outcome>().shape == Shape{0, 16777217});
  CHECK(call_twice(6).message == "the result has 1000001 numbers, more than any check asks for");
}

TEST_CASE("masks come back as masks; a function that is not there is not done") {
  std::string request, unknown;
  put(request, std::string("last_key_only"));
  put(request, std::vector<int>{0, 4});
  const Outcome outcome = answer(candidate, request);
  CHECK(outcome.numbers == std::vector<Scalar>{0, 1});
  CHECK(result_of<Allow>(outcome).flags() == std::vector<unsigned char>{0, 1});
  CHECK(result_of<Allow>(outcome).shape() == Shape{1, 2});
  put(unknown, std::string("thrice"));
  CHECK(answer(candidate, unknown).kind == Outcome::not_done);
  CHECK(answer(candidate, unknown).message == "there is no function thrice");
}

TEST_CASE("a candidate from a file is named after it") {
  CHECK(candidate.name == "wire_test");
  CHECK(Candidate("wrong_split", {}, "why").name == "wrong_split");
}

TEST_CASE("a message on a pipe comes whole, or not at all") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  std::string came;
  CHECK(write_message(ends[1], "hello"));
  CHECK(read_message(ends[0], came, 5));
  CHECK(came == "hello");
  CHECK_FALSE(read_message(ends[0], came, 0));  // nothing in time
  REQUIRE(write(ends[1], "not a message", 13) == 13);
  CHECK_THROWS_AS(read_message(ends[0], came, 5), ValueError);
  close(ends[1]);
  CHECK_FALSE(read_message(ends[0], came, 5));
  close(ends[0]);
}

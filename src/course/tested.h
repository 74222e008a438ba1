// What a check.cpp is written with. The function under test is that of whoever is checked: the learner's
// program, or a candidate of this program (the solution, the stub, a mistake).
//
//   #include "catch.h"
//   const Tested<Tensor(const Tensor&, int64_t)> split("split");
//   TEST_CASE("one head is the whole token", "[one-head][points:2]") {
//     expect_equal(split(x, 1), reshape(x, {2, 1, 5, 12}), {"batch", "head", "token", "number"});
//   }
//
// Variables of the environment say who is checked, and where to write down the answers (see record.h):
//   HEADWAY_CANDIDATE   the name of a candidate, or the path of a program
//   HEADWAY_TRANSCRIPT  the file for the answers of whoever is checked
//   HEADWAY_TABLE       the file for what all candidates answer to the same requests
#pragma once

#include "core/ops.h"
#include "course/wire.h"

namespace headway {

// Why a test fails, in lines that the learner reads.
struct Failure : std::runtime_error {
  using runtime_error::runtime_error;
};

// A call without a result: the function threw.
struct Refused : Failure {
  using Failure::Failure;
};

// How a call looks in a report: split([2, 5, 12], 3)
std::string call_text(const std::string& function, const std::vector<std::string>& arguments);
inline std::string argument_text(const Tensor& x) { return to_text(x.shape()); }
inline std::string argument_text(const Allow& x) { return "mask " + to_text(x.shape()); }
inline std::string argument_text(int64_t x) { return text(x); }
std::string argument_text(const std::vector<int>& x);

// Asks whoever is checked. `call` is how the call looks in a report. Refused for a function that threw;
// Failure where there was no answer.
Outcome ask(const std::string& request, const std::string& call);

template <class Signature>
class Tested;

template <class Result, class... Arguments>
class Tested<Result(Arguments...)> {
public:
  explicit Tested(const char* name) : name_(name) {}

  Result operator()(Arguments... arguments) const {
    std::string request;
    put(request, name_);
    (put(request, arguments), ...);
    return result_of<Result>(ask(request, call_text(name_, {argument_text(arguments)...})));
  }

private:
  std::string name_;
};

// Failure unless the numbers agree to `tolerance`, naming the last call, the first place that is wrong by the
// names of its axes, and both rows there.
void expect_equal(const Tensor& got, const Tensor& expected, const std::vector<const char*>& axes,
                  double tolerance = 1e-5);
void expect_equal(const Allow& got, const Allow& expected, const std::vector<const char*>& axes);

// Failure unless `call` is refused; `why` says what is wrong with the input.
[[noreturn]] void refuse_result(const std::string& why);
template <class Call>
void expect_refused(const Call& call, const std::string& why) {
  try {
    call();
  } catch (const Refused&) { return; }
  refuse_result(why);
}

}  // namespace headway

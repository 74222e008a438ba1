// What an exercise file offers to its check: functions by name. The learner's file, the stub, the solution
// and every mistake end in one line of this kind:
//
//   const Candidate candidate(__FILE__, {{"split", split}, {"project_and_split", project_and_split}});
#pragma once

#include <string>
#include <vector>

#include "core/ops.h"
#include "core/print.h"
#include "course/wire.h"

namespace headway {

// What a function of the stub throws. Its text names the function, and the file and line of the throw.
struct NotDone : std::runtime_error {
  explicit NotDone(const char* function, const char* file = __builtin_FILE(), int line = __builtin_LINE());
};

// A plain function, and how to call it with arguments that came as text.
class Function {
public:
  template <class Result, class... Arguments>
  Function(const char* function_name, Result (*function)(Arguments...))
      : name(function_name), function_(reinterpret_cast<void (*)()>(function)),
        call_(call_as<Result, Arguments...>) {}

  Outcome call(Reader& arguments) const { return call_(function_, arguments); }

  std::string name;

private:
  template <class Result, class... Arguments>
  static Outcome call_as(void (*function)(), Reader& in) {
    const std::tuple<std::decay_t<Arguments>...> arguments = take<std::decay_t<Arguments>...>(in);
    const std::string before = text_of(arguments);
    const Outcome outcome =
        outcome_of(std::apply(reinterpret_cast<Result (*)(Arguments...)>(function), arguments));
    if (text_of(arguments) != before) refuse_changed_argument();
    return outcome;
  }

  template <class... Arguments>
  static std::tuple<Arguments...> take(Reader& in) {
    try {
      std::tuple<Arguments...> arguments = {in.take<Arguments>()...};
      if (in.at_end()) return arguments;
    } catch (const ValueError&) {}
    refuse_arguments();
  }
  template <class Arguments>
  static std::string text_of(const Arguments& arguments) {
    std::string out;
    std::apply([&](const auto&... each) { (put(out, each), ...); }, arguments);
    return out;
  }
  [[noreturn]] static void refuse_arguments();
  [[noreturn]] static void refuse_changed_argument();

  void (*function_)();
  Outcome (*call_)(void (*)(), Reader&);
};

struct Candidate {
  // `file` may be a path: the name is then what stands between its last / and its suffix. A mistake has a
  // diagnosis: one sentence for the learner whose numbers are the same.
  Candidate(const char* file, std::vector<Function> its_functions, std::string its_diagnosis = "");

  std::string name, diagnosis;
  std::vector<Function> functions;
};

// All that are linked into this program.
const std::vector<const Candidate*>& candidates();

// Calls the function that `request` names, with the arguments in it. Whatever it throws is part of the
// outcome.
Outcome answer(const Candidate& candidate, const std::string& request);

}  // namespace headway

#include "course/candidate.h"

namespace headway {

NotDone::NotDone(const char* function, const char* file, int line)
    : std::runtime_error(text(function, " is not written yet: ", file, ", line ", line)) {}

namespace {

std::vector<const Candidate*>& all() {
  static std::vector<const Candidate*> list;
  return list;
}

std::string without_folder_and_suffix(std::string file) {
  file = file.substr(file.rfind('/') + 1);
  return file.substr(0, file.find('.'));
}

Outcome call_by_name(const Candidate& candidate, const std::string& request) {
  Reader in(request);
  const std::string name = in.take<std::string>();
  for (const Function& function : candidate.functions) {
    if (function.name != name) continue;
    const Outcome outcome = function.call(in);
    if (outcome.numbers.size() <= 1000000) return outcome;
    throw ValueError(
        text("the result has ", outcome.numbers.size(), " numbers, more than any check asks for"));
  }
  return {.kind = Outcome::not_done, .message = "there is no function " + name};
}

}  // namespace

void Function::refuse_arguments() {
  throw ValueError(Message("the function takes other arguments than the check gives it")
                       .hint("leave its declaration as it was in the stub"));
}

void Function::refuse_changed_argument() {
  throw ValueError(Message("the function wrote into what it was given")
                       .rule("Tensor y = x makes a second handle on the same numbers, and copies none")
                       .hint("Tensor y = Tensor::from(x.shape(), x.values()) copies them"));
}

Candidate::Candidate(const char* file, std::vector<Function> its_functions, std::string its_diagnosis)
    : name(without_folder_and_suffix(file)), diagnosis(std::move(its_diagnosis)),
      functions(std::move(its_functions)) {
  all().push_back(this);
}

const std::vector<const Candidate*>& candidates() { return all(); }

Outcome answer(const Candidate& candidate, const std::string& request) {
  try {
    return call_by_name(candidate, request);
  } catch (const NotDone& error) {
    return {.kind = Outcome::not_done, .message = error.what()};
  } catch (const std::exception& error) {
    return {.kind = Outcome::refused, .message = std::string(error.what()).substr(0, 2000)};
  } catch (...) {
    return {.kind = Outcome::refused, .message = "something was thrown that is no std::exception"};
  }
}

}  // namespace headway

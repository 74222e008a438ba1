// Calls and what became of them as text. The learner's code runs in a program of its own, so arguments and
// results go through a pipe; where both are in one program, through the same text. A number keeps all its
// bits.
#pragma once

#include <string>

#include "core/mask.h"
#include "core/tensor.h"

namespace headway {

// What became of a call.
struct Outcome {
  enum Kind { value, refused, not_done, lost };  // lost: no answer came
  Kind kind = value;
  Shape shape = {};  // of the result
  // In the order of memory; of a mask 1 where attending is allowed, else 0.
  std::vector<Scalar> numbers = {};
  std::string message = {};           // why there is no result
  std::string at = {}, printed = {};  // where it threw, and what was printed; not put into text
};

// Appends an argument or an outcome.
void put(std::string& out, int64_t x);
void put(std::string& out, const std::string& x);
void put(std::string& out, const std::vector<int>& x);
void put(std::string& out, const Tensor& x);  // ValueError for a tensor that was never given a value
void put(std::string& out, const Allow& x);
void put(std::string& out, const Outcome& x);

// Takes them out again, in the same order. ValueError where the text is not what put wrote.
class Reader {
public:
  explicit Reader(const std::string& text) : text_(&text) {}
  template <class T>
  T take();       // int64_t, std::string, std::vector<int>, Tensor, Allow, Outcome
  bool at_end();  // behind the last one; steps over the end of a line

private:
  template <class T>
  std::vector<T> take_many();
  const char* here() const { return text_->c_str() + at_; }
  void move_to(const char* end);
  const std::string* text_;
  size_t at_ = 0;
};

// A result as an outcome, and back. ValueError where the outcome holds something else.
Outcome outcome_of(const Tensor& result);
Outcome outcome_of(const Allow& result);
template <class Result>
Result result_of(const Outcome& outcome);  // Tensor, Allow

// A message on a pipe: its length, then the text. False where the pipe has ended, or no whole message came
// within `seconds`; ValueError where something else stands there.
bool write_message(int file, const std::string& text);
bool read_message(int file, std::string& text, int seconds);

}  // namespace headway

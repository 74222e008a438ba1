#include "tasks/fit.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "core/print.h"

namespace headway {

namespace {
using Clock = std::chrono::steady_clock;

// Says on standard error, once, if this machine multiplies and adds without hardware support, which makes
// training a hundred times slower.
void warn_if_slow() {
#if !defined(__FMA__) && !defined(__aarch64__)
  static bool said = false;
  if (!said) {
    std::fputs(
        "note: this build has no fused multiply-add in hardware. The numbers will be the same, but training takes\n"
        "      minutes; STEPS=50 makes it short (and its figures other than those in the README).\n",
        stderr);
  }
  said = true;
#endif
}

// When the first training of this program began.
Clock::time_point program_start() {
  static const Clock::time_point start = Clock::now();
  return start;
}
}  // namespace

Progress::Progress(const char* label, int steps)
    : label_(label), steps_(steps), start_(std::max(program_start(), Clock::now())), last_(start_) {
  warn_if_slow();
}

Progress::~Progress() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void Progress::show(int step, Scalar loss) {
  const Clock::time_point now = Clock::now();
  const std::chrono::duration<double> since_last = now - last_, since_start = now - start_,
                                      waited = now - program_start();
  if (since_last.count() < 0.2 || waited.count() < 1.0 || !isatty(2)) return;
  last_ = now;
  shown_ = true;
  const double speed = (step + 1) / since_start.count();
  std::fprintf(stderr, "\r\033[K%s: step %d of %d, loss %s, %s steps/s, %s s left", label_, step + 1, steps_,
               number(loss, 3).c_str(), number(speed, 0).c_str(),
               number((steps_ - step - 1) / speed, 0).c_str());
}

void refuse_bad_loss(Scalar loss, int step) {
  if (std::isfinite(loss)) return;
  throw ValueError(Message(text("the loss is ", number(double(loss), 0), " at step ", step))
                       .rule("a loss is a finite number")
                       .hint("lower the learning rate, or look for log(0) and 0 / 0 in the model"));
}

double accuracy(const Tensor& logits, const std::vector<int>& targets) {
  const int64_t V = logits.dim(-1), rows = V == 0 ? 0 : logits.size() / V;
  if (rows != int64_t(targets.size())) {
    throw ShapeError(Message(text("accuracy: ", targets.size(), " targets for ", rows, " rows of logits"))
                         .tensor("logits", logits.name(), logits.shape())
                         .rule("one target for each row; -100 where nothing is asked"));
  }
  int right = 0, asked = 0;
  for (size_t r = 0; r < targets.size(); r++) {
    if (targets[r] == -100) continue;
    const Scalar* row = logits.data() + int64_t(r) * V;
    asked++;
    const bool has_nan = std::any_of(row, row + V, [](Scalar x) { return std::isnan(x); });
    right += !has_nan && std::max_element(row, row + V) - row == targets[r];
  }
  return asked ? double(right) / asked : 0;
}

}  // namespace headway

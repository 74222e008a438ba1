// The training loop that all lessons share.
#pragma once

#include <chrono>
#include <cmath>

#include "core/node.h"
#include "nn/module.h"
#include "nn/optim.h"

namespace headway {

struct FitOptions {
  int steps = 0;
  Scalar lr = Scalar(3e-3);
  bool cosine_decay = false;  // from lr down to 5 % of it
  const char* label = "training";
};

// Shows step, loss, speed and the time left of this training on standard error, where that is a terminal,
// once the program has been training for a second.
class Progress {
public:
  Progress(const char* label, int steps);
  ~Progress();  // wipes the line
  void show(int step, Scalar loss);

private:
  const char* label_;
  int steps_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point start_, last_;
};

// Throws ValueError, saying at which step, if the loss is NaN or infinite.
void refuse_bad_loss(Scalar loss, int step);

// Adam on what loss_of(step) returns: a scalar tensor computed from `parameters`. Returns the last loss.
// A loss that is NaN or infinite stops it: loss_of is called once more while every op watches for the first
// NaN.
template <class LossOf>
Scalar fit(const Parameters& parameters, const FitOptions& options, const LossOf& loss_of) {
  const std::vector<Tensor> weights = tensors(parameters);
  Adam adam(weights, {.lr = options.lr});
  Progress progress(options.label, options.steps);
  Scalar last = 0;
  for (int step = 0; step < options.steps; step++) {
    adam.lr = options.cosine_decay ? options.lr * cosine(step, options.steps, Scalar(0.05)) : options.lr;
    zero_grad(weights);
    const Tensor loss = loss_of(step);  // []
    last = loss.item();
    if (!std::isfinite(last)) {
      const WatchForNaN check;
      loss_of(step);
      refuse_bad_loss(last, step);
    }
    loss.backward();
    adam.step();
    progress.show(step, last);
  }
  return last;
}

// The share of rows of logits [..., V] whose largest entry is the target; rows with target -100 do not count,
// and a row that holds a NaN names nothing. ShapeError unless there is one target for each row.
double accuracy(const Tensor& logits, const std::vector<int>& targets);

}  // namespace headway

// Cross entropy of logits against target ids.
#include <algorithm>

#include "core/elementwise.h"
#include "core/kernels.h"
#include "core/maths.h"
#include "core/ops.h"

namespace headway {

namespace {

// dlogits = (softmax - target distribution) times the gradient of that row's loss.
// scalars: smoothing, the factor of a mean; ints: the targets, -1 where ignored.
void cross_entropy_backward(Node& y) {
  const Saved& p = y.saved[0];
  const int64_t V = p.shape.back();
  const Scalar smoothing = y.scalars[0], factor = y.scalars[1];
  const bool per_row = y.scalars[2] != 0;
  const Scalar* dy = y.grad_data();
  const GradientSum dlogits = y.parent_sum(0);
  parallel_for(int64_t(y.ints.size()), rows_per_thread(V), [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; r++) {
      const int target = y.ints[size_t(r)];
      Scalar* dlogits_r = dlogits.part(r * V, (r + 1) * V);
      if (target < 0) continue;
      const Scalar g = per_row ? dy[r] : dy[0] * factor;
      const Scalar* p_r = p.data() + r * V;
      const Scalar rest = smoothing / Scalar(V);
      for (int64_t j = 0; j < V; j++) dlogits_r[j] += g * (p_r[j] - rest);
      dlogits_r[target] -= g * (1 - smoothing);
    }
  });
}

void refuse_bad_input(const Tensor& logits, const std::vector<int>& targets, int ignore_index,
                      Scalar smoothing) {
  const int64_t V = axis_index("cross_entropy", -1, logits) >= 0 ? logits.dim(-1) : 0;
  if (V == 0 || int64_t(targets.size()) * V != logits.size()) {
    throw ShapeError(Message(text("cross_entropy: ", targets.size(), " targets for ",
                                  V == 0 ? 0 : logits.size() / V, " rows of logits"))
                         .tensor("logits", logits.name(), logits.shape())
                         .rule("one target for each row of V logits"));
  }
  if (!(smoothing >= 0 && smoothing <= 1)) {
    throw ValueError(Message(text("cross_entropy: label_smoothing ", smoothing, " is not in 0 .. 1"))
                         .rule("it is the share of the target that is spread over all classes"));
  }
  for (size_t r = 0; r < targets.size(); r++) {
    if (targets[r] == ignore_index || (targets[r] >= 0 && targets[r] < V)) continue;
    throw ValueError(
        Message(text("cross_entropy: target ", targets[r], " of row ", r, " is not one of ", V, " classes"))
            .tensor("logits", logits.name(), logits.shape())
            .rule(text("targets run from 0 to ", V - 1, "; ", ignore_index, " is ignored")));
  }
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const std::vector<int>& targets, const CrossEntropy& options) {
  refuse_bad_input(logits, targets, options.ignore_index, options.label_smoothing);
  const int64_t V = logits.dim(-1), rows = int64_t(targets.size());
  const bool per_row = options.reduction == Reduction::none;
  Result y("cross_entropy", per_row ? Shape(logits.shape().begin(), logits.shape().end() - 1) : Shape{},
           {logits}, cross_entropy_backward);
  Tensor p = Tensor::uncleared(logits.shape()), losses = Tensor::uncleared({rows});
  Scalar *p_data = p.mutable_values().data(), *loss = losses.mutable_values().data();
  std::vector<int> used = targets;
  int64_t count = 0;
  for (int& t : used) {
    if (t == options.ignore_index)
      t = -1;
    else
      count++;
  }
  const Scalar smoothing = options.label_smoothing;
  parallel_for(rows, rows_per_thread(V), [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; r++) {
      const Scalar* x = logits.data() + r * V;
      Scalar* p_r = p_data + r * V;
      const Scalar most = row_max(x, V);
      for (int64_t j = 0; j < V; j++) p_r[j] = maths::exp(x[j] - most);
      const Scalar total = row_sum(p_r, V);
      const Scalar log_total = maths::log(total);
      for (int64_t j = 0; j < V; j++) p_r[j] /= total;
      const int t = used[size_t(r)];
      loss[r] = t < 0 ? 0 : log_total - (x[t] - most);  // -log softmax(x)[t]
      if (t >= 0 && smoothing != 0) {                   // (1 - e) (-log p_t) + e mean_j(-log p_j)
        const Scalar mean_x = row_sum(x, V) / Scalar(V);
        loss[r] = (1 - smoothing) * loss[r] + smoothing * (log_total - (mean_x - most));
      }
    }
  });
  const Scalar factor = options.reduction == Reduction::mean ? (count > 0 ? 1 / Scalar(count) : 0) : 1;
  if (per_row) {
    std::copy_n(loss, rows, y.data());
  } else {
    y.data()[0] = 0;
    add_column_sums(loss, rows, 1, y.data());
    if (options.reduction == Reduction::mean) y.data()[0] = count > 0 ? y.data()[0] / Scalar(count) : 0;
  }
  y.save(p);
  y.ints(used);
  y.scalars({smoothing, factor, Scalar(per_row)});
  return y.done();
}

}  // namespace headway

// The kernels that go along rows, beside PyTorch's: softmax, LayerNorm, GELU, AdamW, through the public ops.
#include <cstdio>

#include "bench/bench.h"
#include "core/node.h"
#include "core/parallel.h"
#include "nn/optim.h"

namespace headway::bench {

namespace {

void print_time(const std::string& name, int64_t numbers, double seconds) {
  std::printf("name=%s ns=%.4f\n", name.c_str(), seconds * 1e9 / double(numbers));
}

// Forward alone, without history; then forward and backward together, since a backward has to follow a
// forward.
template <class Op>
void time_op(const std::string& name, const Shape& shape, const Op& op) {
  Random random(6);
  const Tensor x = Tensor::uniform(shape, -2, 2, random).requires_grad();
  {
    const NoGrad no_grad;
    print_time(name + "_forward", x.size(), best_seconds([&] { op(x); }));
  }
  print_time(name + "_forward_and_backward", x.size(), best_seconds([&] { drive(op(x)).backward(); }));
}

void time_adamw(int64_t n) {
  Random random(7);
  const Tensor w = Tensor::uniform({n}, -1, 1, random).requires_grad();
  drive(w).backward();
  Adam adam({w}, {.lr = Scalar(3e-4), .weight_decay = Scalar(0.01)});
  print_time(text("AdamW_", n), n, best_seconds([&] { adam.step(); }));
}

}  // namespace

int rows_child() {
  set_thread_count(1);
  for (const Shape& s : {Shape{8192, 64}, Shape{12288, 256}})
    time_op(text("softmax_", s[0], 'x', s[1]), s, [](const Tensor& x) { return softmax(x); });
  for (const Shape& s : {Shape{2048, 64}, Shape{2048, 384}}) {
    const LayerNorm norm(s[1]);
    time_op(text("LayerNorm_", s[0], 'x', s[1]), s, [&](const Tensor& x) { return norm(x); });
  }
  time_op("GELU_524288", {524288}, [](const Tensor& x) { return gelu_tanh(x); });
  time_adamw(102400);
  time_adamw(10700000);
  return 0;
}

void rows_group(Report& report, int pairs) {
  if (!report.have_torch()) return;
  compare_lines(
      report, pairs, own_child("rows"), "/usr/bin/python3 tests/bench/torch_rows.py", "ns",
      {{"softmax", {1.2, 0.8}}, {"LayerNorm", {1.0, 0.6}}, {"GELU", {0.5, 0.3}}, {"AdamW", {0.5, 0.2}}});
}

}  // namespace headway::bench

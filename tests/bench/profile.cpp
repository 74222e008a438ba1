// Where the time of a training step goes: each op of the step alone, forward and backward, at its real
// shapes, times how often the step needs it. Shares are of their sum, which stands beside the measured step:
// the two differ by the tape, the embedding, memory, and whatever a step makes slower or faster than an op by
// itself.
#include <cstdio>

#include "bench/bench.h"
#include "core/parallel.h"
#include "core/print.h"
#include "nn/optim.h"

namespace headway::bench {

namespace {

enum Kind { products, softmaxes, elementwise, norms, moves, loss, adamw, kinds };
constexpr const char* header =
    "| config | step, ms | sum of its ops, ms | matmul | softmax | elementwise | LayerNorm | permute, reshape | loss "
    "| AdamW |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";

// Forward and backward of one op; what it takes to start a backward is taken off.
template <class Op>
double op_ms(const Op& op) {
  const Tensor stand_in = Tensor::zeros(op().shape()).requires_grad();
  const double both = best_seconds([&] { drive(op()).backward(); });
  return 1e3 * (both - best_seconds([&] { drive(stand_in).backward(); }));
}

struct Profile {
  const Config& c;
  double ms[kinds] = {};
  Random random{8};

  Tensor leaf(const Shape& shape) { return Tensor::uniform(shape, -1, 1, random).requires_grad(); }

  void linear_of(int64_t count, const Shape& x_shape, int64_t out) {
    const Tensor x = leaf(x_shape), weight = leaf({x_shape.back(), out}), bias = leaf({out});
    ms[products] += double(count) * op_ms([&] { return linear(x, weight, bias); });
  }
  void matmul_of(int64_t count, const Shape& a_shape, const Shape& b_shape) {
    const Tensor a = leaf(a_shape), b = leaf(b_shape);
    ms[products] += double(count) * op_ms([&] { return matmul(a, b); });
  }
  void sum_of(int64_t count, const Shape& a_shape, const Shape& b_shape) {
    const Tensor a = leaf(a_shape), b = leaf(b_shape);
    ms[elementwise] += double(count) * op_ms([&] { return a + b; });
  }
  template <class Op>
  void one_of(Kind kind, int64_t count, const Shape& shape, const Op& op) {
    const Tensor x = leaf(shape);
    ms[kind] += double(count) * op_ms([&] { return op(x); });
  }
  void layers();
  void ends();
};

void Profile::layers() {
  const int64_t B = c.B, T = c.T, d = c.d, h = c.h, L = c.L, d_h = d / h, F = 4 * d;
  linear_of(4 * L, {B, T, d}, d);                // q, k, v, out
  linear_of(L, {B, T, d}, F);                    // the MLP
  linear_of(L, {B, T, F}, d);                    //
  matmul_of(L, {B, h, T, d_h}, {B, h, d_h, T});  // q k'
  matmul_of(L, {B, h, T, T}, {B, h, T, d_h});    // pattern v
  sum_of(2 * L, {B, T, d}, {B, T, d});           // the residual stream
  one_of(elementwise, L, {B, T, F}, [](const Tensor& x) { return gelu_tanh(x); });
  one_of(elementwise, L, {B, h, T, T}, [](const Tensor& x) { return scale(x, Scalar(0.25)); });
  one_of(softmaxes, L, {B, h, T, T}, [&](const Tensor& x) { return softmax(x, Allow::causal(T, T, 0)); });
  one_of(moves, 3 * L, {B, T, d}, [&](const Tensor& x) { return split_heads(x, h); });
  one_of(moves, L, {B, h, T, d_h}, [](const Tensor& x) { return merge_heads(x); });
  one_of(moves, L, {B, h, T, d_h}, [](const Tensor& x) { return transpose(x); });
}

// What stands before, behind and around the layers.
void Profile::ends() {
  const int64_t B = c.B, T = c.T, d = c.d;
  const LayerNorm norm(d);
  one_of(norms, 2 * c.L + 1, {B, T, d}, [&](const Tensor& x) { return norm(x); });
  sum_of(1, {B, T, d}, {T, d});  // token and position
  matmul_of(1, {B, T, d}, {d, c.V});
  const std::vector<int> targets = random_tokens(c, B * T, 3);
  one_of(loss, 1, {B, T, c.V}, [&](const Tensor& x) { return cross_entropy(x, targets); });
  const std::vector<Tensor> weights = tensors(make_model(c, T).parameters());
  for (const Tensor& w : weights) drive(w).backward();
  Adam adam(weights, {.lr = Scalar(3e-4), .weight_decay = Scalar(0.01)});
  ms[adamw] = 1e3 * best_seconds([&] { adam.step(); });
}

}  // namespace

int profile_child(const std::string& config) {
  set_thread_count(1);
  const Config& c = config_named(config);
  Profile profile{c};
  profile.layers();
  profile.ends();
  const double step = train(c, c.L > 2 ? 3 : 30).best_ms;
  double sum = 0;
  for (double ms : profile.ms) sum += ms;
  std::printf("| %s | %s | %s", c.name, number(step, 2).c_str(), number(sum, 2).c_str());
  for (double ms : profile.ms) std::printf(" | %s %%", number(100 * ms / sum, 1).c_str());
  std::printf(" |\n");
  return 0;
}

void profile_group(Report& report, int) {
  std::string page = header;
  for (const Config& c : configs) {
    report.working(text("where the time goes, ", c.name), c.L > 2 ? 0.3 : 0);
    page += run(own_child(text("profile ", c.name)));
  }
  report.page(page);
}

}  // namespace headway::bench

// What is measured: the three models, one training step of them, and the peak that everything is a share of.
#include <algorithm>

#include "bench/bench.h"
#include "core/node.h"
#include "fast/lanes.h"
#include "nn/optim.h"

namespace headway::bench {

const Config& config_named(const std::string& name) {
  for (const Config& c : configs) {
    if (name == c.name) return c;
  }
  throw ValueError(Message(text("bench: '", name, "' is no config")).rule("tiny, small or medium"));
}

Transformer make_model(const Config& c, int64_t context) {
  Random random(1);
  return Transformer({.vocab_size = c.V,
                      .context = context,
                      .num_layers = c.L,
                      .block = {.embed_dim = c.d, .num_heads = c.h, .mlp_dim = 4 * c.d}},
                     random);
}

std::vector<int> random_tokens(const Config& c, int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<int> tokens;
  for (int64_t i = 0; i < count; i++) tokens.push_back(random.below(int(c.V)));
  return tokens;
}

// Six operations for each matrix parameter and token (two forward, four backward), and the two attention
// products in full, without taking off what the causal mask hides.
double step_flops(const Config& c) {
  const double matrices = double(12 * c.L * c.d * c.d + c.V * c.d);
  return (6 * matrices + 12 * double(c.L * c.T * c.d)) * double(c.B * c.T);
}

StepTimes train(const Config& c, int steps) {
  const Transformer model = make_model(c, c.T);
  const std::vector<Tensor> weights = tensors(model.parameters());
  Adam adam(weights, {.lr = Scalar(3e-4), .weight_decay = Scalar(0.01)});
  const std::vector<int> tokens = random_tokens(c, c.B * c.T, 2), targets = random_tokens(c, c.B * c.T, 3);
  std::vector<double> seconds;
  double loss_value = 0;
  for (int i = -(steps / 10 + 1); i < steps; i++) {
    const double began = now();
    const Tensor loss = cross_entropy(model(tokens, c.B, c.T), targets);  // []
    zero_grad(weights);
    loss.backward();
    adam.step();
    loss_value = loss.item();
    if (i >= 0) seconds.push_back(now() - began);
  }
  return {median(seconds) * 1e3, *std::min_element(seconds.begin(), seconds.end()) * 1e3, loss_value};
}

double fma_peak() {
  constexpr int chains = 12;  // enough to fill two pipelines of 4 cycles, and they fit into 16 registers
  constexpr int rounds = 200000;
  Lanes sum[chains];
  for (int j = 0; j < chains; j++) sum[j] = broadcast(float(j));  // of equal chains it would compute one
  const Lanes a = broadcast(0.5f), b = broadcast(1);
  const double seconds = best_seconds([&] {
    for (int i = 0; i < rounds; i++) {
      for (int j = 0; j < chains; j++) sum[j] = fma(sum[j], a, b);
    }
  });
  Lanes total = {};
  for (const Lanes& s : sum) total += s;
  asm volatile("" : : "m"(total));  // every chain is wanted, else the compiler leaves it out
  return 2.0 * lanes * chains * rounds / seconds * 1e-9;
}

namespace {
void drive_backward(Node& y) {
  Scalar* dx = y.parent_grad(0);
  const int64_t n = element_count(y.parent_shape(0));
  for (int64_t i = 0; i < n; i++) dx[i] += 1;
}
}  // namespace

Tensor drive(const Tensor& y) {
  Result loss("drive", {}, {y}, drive_backward);
  loss.data()[0] = 0;
  return loss.done();  // []
}

}  // namespace headway::bench

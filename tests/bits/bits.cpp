// Trains two small models for a few steps and prints a hash of every bit of every parameter. The same line
// must come out of every compiler, optimisation level, instruction set and number of threads: see bits.sh.
#include <bit>
#include <cstdio>

#include "nn/transformer.h"
#include "tasks/reader.h"

using namespace headway;

namespace {

// FNV-1a over the bits of all parameters, in order.
uint64_t hash(const Parameters& parameters) {
  uint64_t h = 14695981039346656037u;
  for (const Parameter& p : parameters) {
    for (Scalar x : p.tensor.values()) h = (h ^ std::bit_cast<uint32_t>(float(x))) * 1099511628211u;
  }
  return h;
}

uint64_t train_transformer(Activation activation, bool tied, bool norm_first) {
  Random random(7);
  Transformer model({.vocab_size = 11,
                     .context = 9,
                     .num_layers = 2,
                     .block = {.embed_dim = 20,
                               .num_heads = 4,
                               .mlp_dim = 44,
                               .activation = activation,
                               .norm_first = norm_first},
                     .tied = tied},
                    random);
  const std::vector<Tensor> weights = tensors(model.parameters());
  Adam adam(weights, {.lr = Scalar(1e-2), .weight_decay = Scalar(0.1)});
  for (int step = 0; step < 12; step++) {
    std::vector<int> tokens, targets;
    for (int i = 0; i < 5 * 9; i++) {
      tokens.push_back(random.below(11));
      targets.push_back(i % 7 == 0 ? -100 : random.below(11));
    }
    zero_grad(weights);
    const Tensor logits = dropout(model(tokens, 5, 9), Scalar(0.1), random);  // [5, 9, 11]
    cross_entropy(logits, targets, {.label_smoothing = Scalar(0.1)}).backward();
    clip_grad_norm(weights, 1);
    adam.lr = Scalar(1e-2) * warmup(step, 4) * cosine(step, 12, Scalar(0.1));
    adam.step();
  }
  return hash(model.parameters());
}

}  // namespace

int main() {
  const ReaderModel reader = train_reader(kback(2), {.num_heads = 4}, 1, 25);
  std::printf("%016llx %016llx %016llx\n", (unsigned long long)hash(reader.parameters()),
              (unsigned long long)train_transformer(Activation::gelu_tanh, true, true),
              (unsigned long long)train_transformer(Activation::gelu_erf, false, false));
}

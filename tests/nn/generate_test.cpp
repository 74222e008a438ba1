// Greedy generation, with a cache and without.
#include "nn/generate.h"

#include <algorithm>

#include "catch.h"
#include "core/node.h"
#include "helpers.h"

using namespace headway;

namespace {

using Words = std::vector<int>;

Transformer model_of(int64_t layers, int64_t heads, bool norm_first, bool tied, uint64_t seed) {
  Random random(seed);
  return Transformer({.vocab_size = 9,
                      .context = 12,
                      .num_layers = layers,
                      .block = {.embed_dim = 12, .num_heads = heads, .mlp_dim = 10, .norm_first = norm_first},
                      .tied = tied},
                     random);
}

}  // namespace

TEST_CASE("generation goes on from the prompt with the likeliest token, one at a time") {
  const Transformer model = model_of(1, 3, true, false, 8);
  const Words prompts = {1, 2, 3, 8, 7, 7, 0, 8};  // two prompts of four tokens
  for (bool use_cache : {true, false}) {
    const Words made = generate(model, prompts, 2, 3, use_cache);
    REQUIRE(made.size() == 6);
    for (int b = 0; b < 2; b++) {
      Words line(prompts.begin() + b * 4, prompts.begin() + b * 4 + 4);
      for (int i = 0; i < 3; i++) {
        const NoGrad no_grad;
        const int64_t T = int64_t(line.size());
        const Tensor logits = model(line, 1, T);  // [1, T, V]
        const Scalar* last = logits.data() + (T - 1) * 9;
        const int best = int(std::max_element(last, last + 9) - last);
        CHECK(made[size_t(b * 3 + i)] == best);
        line.push_back(best);
      }
    }
  }
}

TEST_CASE("generation makes the same tokens with a cache as without, up to the last position") {
  int changes = 0;
  for (uint64_t seed = 0; seed < 12; seed++) {
    const Transformer model =
        model_of(1 + int64_t(seed % 3), seed % 2 ? 2 : 3, seed % 4 < 2, seed % 5 < 2, seed);
    Random random(seed);
    Words prompts;
    for (int i = 0; i < 3 * 4; i++) prompts.push_back(random.below(9));
    const Words made = generate(model, prompts, 3, 9);  // 4 + 9 - 1 = 12 positions
    CHECK(made == generate(model, prompts, 3, 9, false));
    CHECK(made == generate(model, prompts, 3, 9));  // nothing is left over
    for (size_t i = 1; i < made.size(); i++) changes += made[i] != made[i - 1];
  }
  CHECK(changes > 60);  // they do not all repeat one token
}

TEST_CASE("of equal logits the smallest id is taken") {
  Transformer model = model_of(1, 2, true, false, 20);
  assign(model.norm_f.weight, std::vector<double>(12, 0));
  assign(model.norm_f.bias, std::vector<double>(12, 1));  // every row before the head is 1, 1, 1, ...
  std::vector<double> weight(12 * 9, 0);
  for (size_t e = 0; e < 12; e++) weight[e * 9 + 4] = weight[e * 9 + 6] = 0.5;
  assign(model.head->weight, weight);
  for (bool use_cache : {true, false}) {
    CHECK(generate(model, {8, 3}, 2, 3, use_cache) == Words{4, 4, 4, 4, 4, 4});
  }
}

TEST_CASE("no tokens can be asked for, and then there are none") {
  const Transformer model = model_of(1, 2, true, false, 21);
  CHECK(generate(model, {1, 2, 3}, 1, 0).empty());
  CHECK(generate(model, {1, 2, 3}, 3, 0, false).empty());
}

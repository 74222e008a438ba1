// Lesson 06, the experiment: heads cut from x itself. What W_Q then costs, what four heads learn from k-back,
// k = 4, and which of the two things that are lost matters: q = k = v, or only a slice of each token.
#include <cmath>
#include <cstdio>

#include "core/print.h"
#include "core/settings.h"
#include "show/lesson.h"
#include "show/table.h"
#include "tasks/reader.h"

using namespace headway;

namespace {

constexpr int heads = 4;
const Setting first_seed = {"SEED", 0, 0, 1000000}, steps = {"STEPS", 600, 1, 100000};

// 1 in the h blocks on the diagonal of a [D, D] weight, 0 elsewhere: so masked, head i reads piece i of x
// alone.
Tensor diagonal_blocks(int64_t width) {
  Tensor blocks = Tensor::zeros({width, width});  // [D, D]
  for (int64_t i = 0; i < width * width; i++) {
    const int64_t from = i / width * heads / width, to = i % width * heads / width;
    blocks.mutable_values()[size_t(i)] = from == to;
  }
  return blocks;
}

void print_weights(const char* name, double count, const Tensor& split) {
  const Tensor apart = slice(split, 1, 0, 1) - slice(split, 1, 1, 2);  // [B, 1, T, d_h]
  std::printf("  %-27s %3.0f weights; heads 0 and 1 are %s apart\n", name, count,
              number(std::sqrt(double(mean(apart * apart).item())), 3).c_str());
}

void count_weights() {
  step("what W_Q costs, D = 16, h = 4; and what becomes of four equal pieces");
  Random random(6);
  const Linear whole(16, 16, false, random), shared(4, 4, false, random);
  const Tensor equal = Tensor::uniform({1, 5, 4}, -1, 1, random);  // [B, T, d_h]
  const Tensor x = concat({equal, equal, equal, equal}, -1);       // [B, T, D]
  const Tensor blocks = diagonal_blocks(16).named("blocks");       // [D, D]
  look(blocks);
  print_weights("16 * 16, then cut", double(whole.weight.size()), split_heads(whole(x), heads));
  print_weights("cut, then 4 * 4 per head", double(sum(blocks).item()),
                split_heads(matmul(x, whole.weight * blocks), heads));
  print_weights("cut, then one 4 * 4 for all", double(shared.weight.size()), shared(split_heads(x, heads)));
}

// Lets head i of the model read piece i only. weights: what is learnt, for q, k and v, each [D, D]
void read_own_piece(ReaderModel& model, const std::vector<Tensor>& weights) {
  const Tensor blocks = diagonal_blocks(32);       // [D, D]
  model.attn.q_proj.weight = weights[0] * blocks;  // [D, D]
  model.attn.k_proj.weight = weights[1] * blocks;  // [D, D]
  model.attn.v_proj.weight = weights[2] * blocks;  // [D, D]
}

// Four heads, k = 4. The table of tokens and places learns along, or stays as it was drawn.
double train_on(bool own_piece, bool table_learns, int seed) {
  Random random{uint64_t(seed)};
  Random data = random.split(), start = random.split();
  ReaderModel model(kback(4), {.num_heads = heads}, start);
  const std::vector<Tensor> weights = {model.attn.q_proj.weight, model.attn.k_proj.weight,
                                       model.attn.v_proj.weight};
  Parameters learning = model.parameters();
  if (!table_learns) learning.erase(learning.begin(), learning.begin() + 2);  // tok, pos
  fit(learning, {.steps = steps.value()}, [&](int) {
    if (own_piece) read_own_piece(model, weights);
    const ReaderBatch batch = model.task.draw(model.task, 64, data);
    return cross_entropy(model.forward(batch.tokens).logits, batch.targets);  // []
  });
  if (own_piece) read_own_piece(model, weights);
  return score(model).accuracy;
}

// The weight of a token on itself, mean over heads and the places where something is asked.
double weight_on_itself(const ReaderModel& model) {
  const Tensor pattern = mean_pattern(model);  // [h, T, T]
  double total = 0;
  for (int64_t i = 0; i < heads; i++) {
    for (int64_t t = 4; t < 12; t++) total += double(pattern.at({i, t, t}));
  }
  return total / (heads * 8);
}

void experiment() {
  count_weights();

  step("trained to name the last four tokens: x merely cut (q = k = v), or projected and cut");
  const int seed = first_seed.value();
  over_seeds(seed, 5, {"x cut", "on itself", "projected", "on itself"}, [](int s) {
    const ReaderModel cut = train_reader(kback(4), {.num_heads = heads, .project = false}, s, steps.value());
    const ReaderModel real = train_reader(kback(4), {.num_heads = heads}, s, steps.value());
    return std::vector<double>{score(cut).accuracy, weight_on_itself(cut), score(real).accuracy,
                               weight_on_itself(real)};
  });
  std::printf(
      "  'on itself': weight of a token on itself, which nobody asks for. With q = k it matches itself.\n");

  step("each head projects its own piece only: with a table that learns, with one that stays as drawn");
  over_seeds(seed, 3, {"piece, learning", "piece, fixed", "whole x, fixed"}, [](int s) {
    return std::vector<double>{train_on(true, true, s), train_on(true, false, s), train_on(false, false, s)};
  });
}

}  // namespace

int main() { return run_lesson(experiment, {first_seed, steps}); }

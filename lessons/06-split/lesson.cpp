// Lesson 06: split. A token's D numbers are cut into h pieces of d_h, and then heads come before tokens:
// [B, T, D] -> [B, T, h, d_h] -> [B, h, T, d_h]. Two lines of code, and the second must not be left out.
#include <cmath>
#include <cstdio>

#include "core/print.h"
#include "core/settings.h"
#include "show/grid.h"
#include "show/lesson.h"
#include "show/picture.h"
#include "tasks/reader.h"

using namespace headway;

namespace {

constexpr int64_t B = 2, T = 5, h = 3, d_h = 4, D = h * d_h;

// The numbers t[0, i, j, ..]: "| 0  1 |"
std::string piece(const Tensor& t, int64_t i, int64_t j) {
  std::string out = "|";
  for (int64_t m = 0; m < t.dim(3); m++) out += padded(number(t.at({0, i, j, m}), 0), 3);
  return out + " |";
}

std::string in_memory(const Tensor& t) {
  std::string out;
  for (Scalar x : t.values()) out = text(out, " ", number(x, 0));
  return out;
}

// Where the twelve numbers stand: as tokens, as heads, and after a reshape alone. Each matrix is [T, D] or
// [T, d_h].
void draw_entries(const Tensor& x, const Tensor& heads, const Tensor& wrong) {
  const auto panel = [](const std::string& title, const Tensor& t, int64_t i, int64_t width) {
    const Tensor matrix = reshape(slice(t, 1, i * 3, i * 3 + 3), {3, width});  // [T, width]
    return numbered_panel(title, matrix, 4, 3);
  };
  const Tensor rows = reshape(heads, {1, 6, 2}), wrong_rows = reshape(wrong, {1, 6, 2});  // [1, h T, d_h]
  const std::string path = output_file("06-split", "entries.png");
  write_heat_maps(path, "before and after the split: numbers 0 to 11, a shade for each token",
                  {{panel("before: x", x, 0, 4)},
                   {panel("split, head 0", rows, 0, 2), panel("split, head 1", rows, 1, 2)},
                   {panel("reshape alone, head 0", wrong_rows, 0, 2), panel("head 1", wrong_rows, 1, 2)}});
  std::printf("  picture: %s\n", path.c_str());
}

void numbered_entries() {
  step("cut each token's four numbers in two: [1, 3, 4] -> [1, 3, 2, 2]");
  const Tensor x = Tensor::from({1, 3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}).named("x");  // [B, T, D]
  const Tensor cut = reshape(x, {1, 3, 2, 2}).named("cut");  // [B, T, h, d_h]
  look(cut);
  for (int64_t t = 0; t < 3; t++) {
    std::printf("  token %d  %s %s\n", int(t), piece(cut, t, 0).c_str(), piece(cut, t, 1).c_str());
  }
  std::printf("  in memory:%s   reshape moves nothing\n", in_memory(cut).c_str());

  step("heads before tokens: [1, 3, 2, 2] -> [1, 2, 3, 2]");
  const Tensor heads = permute(cut, {0, 2, 1, 3}).named("heads");        // [B, h, T, d_h]
  const Tensor wrong = reshape(x, {1, 2, 3, 2}).named("reshape alone");  // [B, h, T, d_h] by its shape
  look(heads);
  look(wrong);
  std::printf("           head 0     head 1        reshape alone: head 0     head 1\n");
  for (int64_t t = 0; t < 3; t++) {
    std::printf("  row %d  %s  %s                   %s  %s\n", int(t), piece(heads, 0, t).c_str(),
                piece(heads, 1, t).c_str(), piece(wrong, 0, t).c_str(), piece(wrong, 1, t).c_str());
  }
  std::printf("  in memory:%s   permute moves them\n", in_memory(heads).c_str());
  expect_same_bits("reshape and permute; split_heads(x, 2)", heads, split_heads(x, 2));
  draw_entries(x, heads, wrong);
}

// Number j of token t goes to head j / d_h and stands there at place j % d_h.
Tensor split_by_loops(const Tensor& x) {
  Tensor heads = Tensor::zeros({B, h, T, d_h});  // [B, h, T, d_h]
  const std::span<Scalar> out = heads.mutable_values();
  for (int64_t b = 0; b < B; b++) {
    for (int64_t t = 0; t < T; t++) {
      for (int64_t j = 0; j < D; j++) {
        out[size_t(((b * h + j / d_h) * T + t) * d_h + j % d_h)] = x.at({b, t, j});
      }
    }
  }
  return heads;
}

void print_moved(const char* what, const Tensor& before, const Tensor& after, int64_t b) {
  std::printf("  %-15s   %s\n", what, moved_rows(before, after, b).c_str());
}

// x with 1 added to numbers from .. to-1 of one token of item 0.
Tensor changed(const Tensor& x, int64_t token, int64_t from, int64_t to) {
  Tensor out = Tensor::from(x.shape(), x.values());  // [B, T, D]
  for (int64_t j = from; j < to; j++) out.mutable_values()[size_t(token * D + j)] += 1;
  return out;
}

void split(const Tensor& x) {
  step("the real shapes: [2, 5, 12] -> [2, 3, 5, 4]");
  const Tensor heads = split_heads(x, h).named("heads");  // [B, h, T, d_h]
  look(heads);
  expect_same_bits("three loops; split_heads(x, 3)", split_by_loops(x), heads);
  try {
    split_heads(Tensor::zeros({2, 5, 10}).named("tokens"), 3);
  } catch (const ShapeError& error) { print_refusal(error); }

  step("change token 2 of item 0 and nothing else ('*': the row moved)");
  const Tensor after = split_heads(changed(x, 2, 0, D), h);  // [B, h, T, d_h]
  look((after - heads).named("after - before"));
  std::printf("  rows 0 .. 4 of    head 0  head 1  head 2\n");
  print_moved("item 0", heads, after, 0);
  print_moved("item 1", heads, after, 1);
  std::printf("  Row 2 of every head, and no other: a head has all tokens, and of each token one piece.\n");
}

// Which token each row of each head was cut from: 1 at [row, token].
std::vector<Panel> origins(const char* title, bool with_permute) {
  Tensor x = Tensor::zeros({1, T, D});  // [B, T, D], every number of token t is t
  for (int64_t i = 0; i < T * D; i++) x.mutable_values()[size_t(i)] = Scalar(i / D);
  const Tensor heads = with_permute ? split_heads(x, h) : reshape(x, {1, h, T, d_h});  // [B, h, T, d_h]
  std::vector<Panel> panels;
  for (int64_t i = 0; i < h; i++) {
    Tensor origin = Tensor::zeros({T, T});  // [T, T]
    for (int64_t t = 0; t < T; t++) {
      origin.mutable_values()[size_t(t * T + int64_t(heads.at({0, i, t, 0})))] = 1;
    }
    panels.push_back({.title = text(title, ", head ", i),
                      .matrix = origin,
                      .down = "rows of the head",
                      .across = "tokens"});
  }
  return panels;
}

void wrong_split() {
  step("reshape alone has the right shape and the wrong tokens: which token is in which row?");
  const std::vector<Panel> right = origins("right", true), wrong = origins("wrong", false);
  std::printf("%s", heat_grids({right[0], wrong[0], wrong[1], wrong[2]}).c_str());
  std::printf(
      "  Down: rows of the head. Across: tokens. Right head 0 holds tokens 0 1 2 3 4, wrong head 0\n"
      "  tokens 0 0 0 1 1: all pieces of token 0 and two of token 1. It never meets tokens 2 to 4.\n");
  const std::string path = output_file("06-split", "split.png");
  write_heat_maps(path, "which token stands in which row of a head", {right, wrong});
  std::printf("  picture: %s\n", path.c_str());
}

void project_then_cut(const Tensor& x, Random& random) {
  step("project first, then cut: one [12, 12] projection is three of [12, 4] side by side");
  const Linear q_proj(D, D, false, random);
  const Tensor q = split_heads(q_proj(x), h);  // [B, h, T, d_h]
  std::vector<Tensor> small;
  for (int64_t i = 0; i < h; i++) {
    const Tensor W_i = slice(q_proj.weight, 1, i * d_h, (i + 1) * d_h);  // [D, d_h]
    small.push_back(reshape(matmul(x, W_i), {B, 1, T, d_h}));            // [B, 1, T, d_h]
  }
  expect_same_bits("the big one, then cut; x times each head's own columns", q, concat(small, 1));

  const Tensor one_number = changed(x, 2, 5, 6);  // [B, T, D]
  std::printf("  change number 5 of token 2; rows that move:  head 0  head 1  head 2\n");
  print_moved("x cut", split_heads(x, h), split_heads(one_number, h), 0);
  print_moved("projected, cut", q, split_heads(q_proj(one_number), h), 0);
  std::printf("  Cut x, and only one head ever sees number 5. Project first, and every head reads all 12.\n");
}

// 1 in the h blocks on the diagonal of a [D, D] weight, 0 elsewhere: so masked, head i reads piece i of x
// alone.
Tensor diagonal_blocks(int64_t width, int64_t heads) {
  Tensor blocks = Tensor::zeros({width, width});  // [D, D]
  for (int64_t i = 0; i < width * width; i++) {
    const int64_t from = i / width * heads / width, to = i % width * heads / width;
    blocks.mutable_values()[size_t(i)] = from == to;
  }
  return blocks;
}

void print_weights(const char* name, double count, const Tensor& heads) {
  const Tensor apart = slice(heads, 1, 0, 1) - slice(heads, 1, 1, 2);  // [B, 1, T, d_h]
  std::printf("  %-27s %3.0f weights; heads 0 and 1 are %s apart\n", name, count,
              number(std::sqrt(double(mean(apart * apart).item())), 3).c_str());
}

void count_weights(Random& random) {
  step("what W_Q costs, D = 16, h = 4; and what becomes of four equal pieces");
  const Linear whole(16, 16, false, random), shared(4, 4, false, random);
  const Tensor equal = Tensor::uniform({1, T, 4}, -1, 1, random);  // [B, T, d_h]
  const Tensor x = concat({equal, equal, equal, equal}, -1);       // [B, T, D]
  const Tensor blocks = diagonal_blocks(16, 4).named("blocks");    // [D, D]
  look(blocks);
  print_weights("16 * 16, then cut", double(whole.weight.size()), split_heads(whole(x), 4));
  print_weights("cut, then 4 * 4 per head", double(sum(blocks).item()),
                split_heads(matmul(x, whole.weight * blocks), 4));
  print_weights("cut, then one 4 * 4 for all", double(shared.weight.size()), shared(split_heads(x, 4)));
}

// Lets head i of the model read piece i only. weights: what is learnt, for q, k and v, each [D, D]
void read_own_piece(ReaderModel& model, const std::vector<Tensor>& weights) {
  const Tensor blocks = diagonal_blocks(32, 4);    // [D, D]
  model.attn.q_proj.weight = weights[0] * blocks;  // [D, D]
  model.attn.k_proj.weight = weights[1] * blocks;  // [D, D]
  model.attn.v_proj.weight = weights[2] * blocks;  // [D, D]
}

// Four heads, k = 4. The table of tokens and places learns along, or stays as it was drawn.
double train_on(bool own_piece, bool table_learns, int seed, int steps) {
  Random random{uint64_t(seed)};
  Random data = random.split(), start = random.split();
  ReaderModel model(kback(4), {.num_heads = 4}, start);
  const std::vector<Tensor> weights = {model.attn.q_proj.weight, model.attn.k_proj.weight,
                                       model.attn.v_proj.weight};
  Parameters learning = model.parameters();
  if (!table_learns) learning.erase(learning.begin(), learning.begin() + 2);  // tok, pos
  fit(learning, {.steps = steps}, [&](int) {
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
  for (int64_t i = 0; i < 4; i++) {
    for (int64_t t = 4; t < 12; t++) total += double(pattern.at({i, t, t}));
  }
  return total / (4 * 8);
}

void trained() {
  const int first_seed = Setting{"SEED", 0, 0, 1000000}.value(),
            steps = Setting{"STEPS", 600, 1, 100000}.value();

  step("trained to name the last four tokens: x merely cut (q = k = v), or projected and cut");
  std::vector<std::vector<double>> accuracies;
  for (int seed = first_seed; seed < first_seed + 5; seed++) {
    const ReaderModel cut = train_reader(kback(4), {.num_heads = 4, .project = false}, seed, steps);
    const ReaderModel real = train_reader(kback(4), {.num_heads = 4}, seed, steps);
    accuracies.push_back(
        {score(cut).accuracy, weight_on_itself(cut), score(real).accuracy, weight_on_itself(real)});
  }
  print_seeds(first_seed, {"x cut", "on itself", "projected", "on itself"}, accuracies);
  std::printf(
      "  'on itself': weight of a token on itself, which nobody asks for. With q = k it matches itself.\n");

  step("each head projects its own piece only: with a table that learns, with one that stays as drawn");
  accuracies.clear();
  for (int seed = first_seed; seed < first_seed + 3; seed++) {
    accuracies.push_back({train_on(true, true, seed, steps), train_on(true, false, seed, steps),
                          train_on(false, false, seed, steps)});
  }
  print_seeds(first_seed, {"piece, learning", "piece, fixed", "whole x, fixed"}, accuracies);
}

void lesson() {
  Random random(6);
  const Tensor x = Tensor::uniform({B, T, D}, -1, 1, random).named("x");  // [B, T, D]
  numbered_entries();
  split(x);
  wrong_split();
  project_then_cut(x, random);
  count_weights(random);
  trained();
}

}  // namespace

int main() { return run_lesson(lesson); }

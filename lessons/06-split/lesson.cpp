// Lesson 06: split. A token's D numbers are cut into h pieces of d_h, and then heads come before tokens:
// [B, T, D] -> [B, T, h, d_h] -> [B, h, T, d_h]. Two lines of code, and the second must not be left out.
#include <cstdio>

#include "core/print.h"
#include "nn/attention.h"
#include "show/grid.h"
#include "show/lesson.h"
#include "show/picture.h"

using namespace headway;

namespace {

constexpr int64_t B = 2, T = 5, h = 3, d_h = 4, D = h * d_h;

// The numbers t[0, i, j, ..]: "| 0  1 |"
std::string piece(const Tensor& t, int64_t i, int64_t j) {
  std::string out = "|";
  for (int64_t m = 0; m < t.dim(3); m++) out += padded(number(t.at({0, i, j, m}), 0), 3);
  return out + " |";
}

// Head i, to be drawn with a shade for each token.
Panel entries(const char* title, const Tensor& heads, int64_t i) {
  return numbered_panel(title, reshape(slice(heads, 1, i, i + 1), {3, 2}), 4, 3);  // [T, d_h]
}

void numbered_entries() {
  step("cut each token's four numbers in two: [1, 3, 4] -> [1, 3, 2, 2]");
  const Tensor x = Tensor::from({1, 3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}).named("x");  // [B, T, D]
  const Tensor cut = reshape(x, {1, 3, 2, 2}).named("cut");  // [B, T, h, d_h]
  look(cut);
  for (int t = 0; t < 3; t++) {
    std::printf("  token %d  %s %s\n", t, piece(cut, t, 0).c_str(), piece(cut, t, 1).c_str());
  }
  std::printf("  memory   %s  reshape moves nothing\n", piece(reshape(cut, {1, 1, 1, 12}), 0, 0).c_str());

  step("heads before tokens: [1, 3, 2, 2] -> [1, 2, 3, 2]");
  const Tensor heads = permute(cut, {0, 2, 1, 3}).named("heads");        // [B, h, T, d_h]
  const Tensor wrong = reshape(x, {1, 2, 3, 2}).named("reshape alone");  // [B, h, T, d_h] by its shape
  look(heads);
  look(wrong);
  std::printf("           head 0     head 1        reshape alone: head 0     head 1\n");
  for (int t = 0; t < 3; t++) {
    std::printf("  row %d  %s  %s                   %s  %s\n", t, piece(heads, 0, t).c_str(),
                piece(heads, 1, t).c_str(), piece(wrong, 0, t).c_str(), piece(wrong, 1, t).c_str());
  }
  std::printf("  memory %s  permute moves them\n", piece(reshape(heads, {1, 1, 1, 12}), 0, 0).c_str());
  expect_same_bits("reshape and permute; split_heads(x, 2)", heads, split_heads(x, 2));
  show_picture("entries.png", "before and after the split: numbers 0 to 11, a shade for each token",
               {{numbered_panel("before: x", reshape(x, {3, 4}), 4, 3)},
                {entries("split, head 0", heads, 0), entries("split, head 1", heads, 1)},
                {entries("reshape alone, head 0", wrong, 0), entries("head 1", wrong, 1)}});
}

// Number j of token t goes to head j / d_h and stands there at place j % d_h.
Tensor split_by_loops(const Tensor& x) {
  Tensor heads = Tensor::zeros({B, h, T, d_h});  // [B, h, T, d_h]
  const std::span<Scalar> out = heads.mutable_values();
  for (int64_t b = 0; b < B; b++) {
    for (int64_t t = 0; t < T; t++) {
      for (int64_t j = 0; j < D; j++) {
        const int64_t i = j / d_h, place = j % d_h;
        out[size_t(((b * h + i) * T + t) * d_h + place)] = x.at({b, t, j});
      }
    }
  }
  return heads;
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
  show_refusal([] { (void)split_heads(Tensor::zeros({2, 5, 10}).named("tokens"), 3); });

  step("change token 2 of item 0 and nothing else ('*': the row moved)");
  const Tensor after = split_heads(changed(x, 2, 0, D), h);  // [B, h, T, d_h]
  look((after - heads).named("after - before"));
  std::printf("  rows 0 .. 4 of        head 0  head 1  head 2\n");
  print_moved("item 0", heads, after, 0);
  print_moved("item 1", heads, after, 1);
  std::printf("  Row 2 of every head, and no other: a head has all tokens, and of each token one piece.\n");
}

// Which token each row of each head was cut from, where every number of token t is t: 1 at [row, token].
std::vector<Panel> origins(const char* title, const Tensor& heads) {
  std::vector<Panel> panels;
  for (int64_t i = 0; i < h; i++) {
    Tensor origin = Tensor::zeros({T, T});  // [T, T]
    const auto flags = origin.mutable_values();
    for (int64_t t = 0; t < T; t++) flags[size_t(t * T + int64_t(heads.at({0, i, t, 0})))] = 1;
    panels.push_back({text(title, ", head ", i), origin, {}, {}, "rows of the head", "tokens"});
  }
  return panels;
}

void wrong_split() {
  Tensor numbers = Tensor::zeros({1, T, D});  // [B, T, D]
  for (int64_t i = 0; i < T * D; i++) numbers.mutable_values()[size_t(i)] = Scalar(i / D);
  step("reshape alone has the right shape and the wrong tokens: which token is in which row?");
  const std::vector<Panel> right = origins("right", split_heads(numbers, h)),
                           wrong = origins("wrong", reshape(numbers, {1, h, T, d_h}));
  std::printf("%s", heat_grids({right[0], wrong[0], wrong[1], wrong[2]}).c_str());
  std::printf(
      "  Down: rows of the head. Across: tokens. Right head 0 holds tokens 0 1 2 3 4, wrong head 0\n"
      "  tokens 0 0 0 1 1: all pieces of token 0 and two of token 1. It never meets tokens 2 to 4.\n");
  show_picture("split.png", "which token stands in which row of a head", {right, wrong});
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
  std::printf("  change number 5 of token 2:  rows that move in heads 0, 1 and 2\n");
  print_moved("x cut", split_heads(x, h), split_heads(one_number, h), 0);
  print_moved("projected, cut", q, split_heads(q_proj(one_number), h), 0);
  std::printf("  Cut x, and only one head ever sees number 5. Project first, and every head reads all 12.\n");
}

void lesson() {
  Random random(6);
  const Tensor x = Tensor::uniform({B, T, D}, -1, 1, random).named("x");  // [B, T, D]
  numbered_entries();
  split(x);
  wrong_split();
  project_then_cut(x, random);
  std::printf("\nWhat training makes of heads that are cut from x itself: make 06-experiment\n");
}

}  // namespace

int main() { return run_lesson(lesson); }

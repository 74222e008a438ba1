// Lesson 07: attend. Every head runs attention by itself, on its own q, k and v [T, d_h]: B * h small
// attentions, in one call. Heads meet nowhere in here. Fresh random layers only, nothing is trained.
#include <cmath>
#include <cstdio>

#include "core/node.h"
#include "core/print.h"
#include "heads/rank.h"
#include "nn/attention.h"
#include "show/grid.h"
#include "show/lesson.h"
#include "show/picture.h"

using namespace headway;

namespace {

constexpr int64_t B = 2, T = 5, h = 3, d_h = 4, D = h * d_h;

struct Heads {
  Tensor q, k, v;  // [B, h, T, d_h]
};

// Row `row`, counted through all matrices of t.
std::string row_text(const Tensor& t, int64_t row, int decimals) {
  std::string out;
  for (int64_t s = 0; s < t.dim(-1); s++) {
    out = text(out, " ", number(double(t.data()[row * t.dim(-1) + s]), decimals));
  }
  return out;
}

void scale_and_axis() {
  step("scale by sqrt(d_h), not by sqrt(D): raw scores 8 and 0, D = 16, h = 2, d_h = 8");
  for (const auto& [name, width] : {std::pair("sqrt(d_h)", 8.0), std::pair("sqrt(D)", 16.0)}) {
    const double score = 8 / std::sqrt(width);
    std::printf("  8 / %-9s = %s   e^%s / (e^%s + e^0) = %s\n", name, number(score, 6).c_str(),
                number(score, 6).c_str(), number(score, 6).c_str(),
                number(std::exp(score) / (std::exp(score) + 1), 6).c_str());
  }
  const Tensor q = Tensor::full({1, 1, 1, 8}, 1);                // [B, h, T, d_h]
  const Tensor k = concat({q, Tensor::zeros({1, 1, 1, 8})}, 2);  // [B, h, S, d_h], q k^T = 8, 0
  std::printf("  attention() gives both weights:%s\n", row_text(attention(q, k, k).pattern, 0, 6).c_str());

  step("softmax over the keys, not over the queries: scores [[1, 2], [3, 5]]");
  const Tensor scores = Tensor::from({2, 2}, {1, 2, 3, 5});  // [T, S]
  const Tensor right = softmax(scores).named("over keys");   // [T, S]
  const Tensor wrong =
      transpose(softmax(transpose(scores))).named("over queries");  // [T, S], columns sum to 1
  look(right);
  look(wrong);
  std::printf("           over keys           sum        over queries        sum\n");
  for (int64_t t = 0; t < 2; t++) {
    std::printf("  query %d %s  %s  %s  %s\n", int(t), row_text(right, t, 6).c_str(),
                row_text(sum(right, {1}, true), t, 6).c_str(), row_text(wrong, t, 6).c_str(),
                row_text(sum(wrong, {1}, true), t, 6).c_str());
  }
}

// softmax(q k^T / sqrt(d_h)) v for one head of one item, in plain loops and in double. q, k, v: [T, d_h]
std::vector<Scalar> one_head_by_loops(const Tensor& q, const Tensor& k, const Tensor& v) {
  std::vector<Scalar> z;  // [T, d_h]
  for (int64_t t = 0; t < T; t++) {
    double weight[T], total = 0;
    for (int64_t s = 0; s < T; s++) {
      double score = 0;
      for (int64_t j = 0; j < d_h; j++) score += double(q.at({t, j})) * double(k.at({s, j}));
      weight[s] = std::exp(score / std::sqrt(double(d_h)));
      total += weight[s];
    }
    for (int64_t j = 0; j < d_h; j++) {
      double mix = 0;
      for (int64_t s = 0; s < T; s++) mix += weight[s] / total * double(v.at({s, j}));
      z.push_back(Scalar(mix));
    }
  }
  return z;
}

// Head i of item b.   [B, h, T, d_h] -> [T, d_h]
Tensor matrix_of(const Tensor& t, int64_t b, int64_t i) {
  return reshape(slice(slice(t, 0, b, b + 1), 1, i, i + 1), {T, d_h});  // [T, d_h]
}

void one_by_one(const Heads& x) {
  step("each head on its own: 2 items * 3 heads = 6 attentions");
  std::vector<Scalar> by_loops;
  std::vector<Tensor> by_matrices;
  for (int64_t b = 0; b < B; b++) {
    for (int64_t i = 0; i < h; i++) {
      const Tensor q = matrix_of(x.q, b, i), k = matrix_of(x.k, b, i), v = matrix_of(x.v, b, i);  // [T, d_h]
      const Tensor scores =
          scale(matmul(q, transpose(k)), 1 / std::sqrt(Scalar(d_h))).named("scores");  // [T, T]
      if (b + i == 0) look(scores);
      by_matrices.push_back(reshape(matmul(softmax(scores), v), {1, 1, T, d_h}));  // [1, 1, T, d_h]
      for (Scalar z : one_head_by_loops(q, k, v)) by_loops.push_back(z);
    }
  }
  const Tensor z = attention(x.q, x.k, x.v).z.named("z");  // [B, h, T, d_h]
  look(z);
  expect_close("plain loops; attention() on all heads at once", Tensor::from({B, h, T, d_h}, by_loops), z,
               1e-6);
  expect_same_bits("six times two matrix products and a softmax; attention()",
                   reshape(concat(by_matrices, 0), {B, h, T, d_h}), z);
}

void causal_mask() {
  step("the causal mask: query t sees keys 0 .. past + t (equal scores)");
  for (int64_t queries : {1, 2}) {
    const int64_t past = 5 - queries;
    const Tensor q = Tensor::zeros({1, 1, queries, d_h});  // [B, h, T, d_h]
    const Tensor k = Tensor::zeros({1, 1, 5, d_h});        // [B, h, S, d_h]
    const Tensor pattern =
        attention(q, k, k, {.is_causal = true, .past = past}).pattern.named("pattern");  // [B, h, T, S]
    look(pattern);
    for (int64_t t = 0; t < queries; t++) {
      std::printf("  T = %d, S = 5, past = %d, query %d: %s\n", int(queries), int(past), int(t),
                  row_text(pattern, t, 2).c_str());
    }
    try {
      if (queries == 2) attention(q, k, k, {.is_causal = true});
    } catch (const ValueError& error) { print_refusal(error); }
  }
}

void mask_per_item(Random& random) {
  step("a mask per item needs a head axis: B = h = 2, item 0 may see keys 0 to 2, item 1 keys 3 and 4");
  const Tensor scores = Tensor::uniform({2, 2, T, T}, -1, 1, random);  // [B, h, T, S]
  std::vector<unsigned char> flags;                                    // [B, T, S]
  for (int64_t i = 0; i < 2 * T * T; i++) flags.push_back((i < T * T) == (i % T < 3));
  try {
    softmax(scores, Allow({2, T, T}, flags));
  } catch (const ShapeError& error) { print_refusal(error); }

  const Tensor right = softmax(scores, Allow({2, 1, T, T}, flags)).named("pattern");  // [B, h, T, S]
  look(right);
  const Tensor guessed = softmax(scores, Allow({1, 2, T, T}, flags));  // [B, h, T, S], items taken for heads
  std::vector<Tensor> alone;
  std::printf("  had the two masks met the two heads instead (B = h, so the sizes would have fitted):\n");
  for (int64_t b = 0; b < 2; b++) {
    const Allow own({T, T}, {flags.begin() + b * T * T, flags.begin() + (b + 1) * T * T});
    alone.push_back(softmax(slice(scores, 0, b, b + 1), own));  // [1, h, T, S]
    std::printf("    item %d:", int(b));
    for (int64_t i = 0; i < 2; i++) {
      const bool same = guessed.at({b, i, 0, 0}) == right.at({b, i, 0, 0});
      std::printf("  head %d has %s", int(i), same ? "its own mask" : "the other item's");
    }
    std::printf("\n");
  }
  expect_same_bits("mask [2, 1, 5, 5]; each item alone with its own mask", concat(alone, 0), right);
}

void nothing_allowed(const Heads& x) {
  step("a query that may see nothing gets zeros, not NaN: all keys of item 1 are blocked");
  const Tensor leaves[] = {x.q.detach().requires_grad(), x.k.detach().requires_grad(),
                           x.v.detach().requires_grad()};  // [B, h, T, d_h]
  const std::vector<int> lengths = {T, 0};
  const Attended read = attention(leaves[0], leaves[1], leaves[2], {.allow = Allow::lengths(lengths, T)});
  look(read.pattern.named("pattern"));
  sum(read.z * read.z).backward();
  std::printf("  item 1, head 0, query 0: pattern%s, z%s\n", row_text(read.pattern, h * T, 2).c_str(),
              row_text(read.z, h * T, 2).c_str());
  int finite = 0;
  for (const Tensor& leaf : leaves) {
    const Tensor gradient = leaf.grad();  // [B, h, T, d_h]
    for (Scalar g : gradient.values()) finite += std::isfinite(g);
  }
  std::printf("  gradients of q, k and v: %d of %d numbers are finite\n", finite, int(3 * x.q.size()));
  expect_same_bits("item 0 with and without the mask", slice(read.z, 0, 0, 1),
                   slice(attention(x.q, x.k, x.v).z, 0, 0, 1));
}

void change_one_token(const Heads& x, const Heads& changed) {
  step("change token 2 of item 0: which rows 0 .. 4 of z move ('*')?");
  const Masking causal = {.is_causal = true};
  const Tensor z = attention(x.q, x.k, x.v, causal).z.named("z");  // [B, h, T, d_h]
  look(z);
  std::printf("  it reaches z          head 0  head 1  head 2\n");
  print_moved("through q alone", z, attention(changed.q, x.k, x.v, causal).z);
  print_moved("through k alone", z, attention(x.q, changed.k, x.v, causal).z);
  print_moved("through v alone", z, attention(x.q, x.k, changed.v, causal).z);
  print_moved("all three", z, attention(changed.q, changed.k, changed.v, causal).z);
  print_moved("all three, no mask", attention(x.q, x.k, x.v).z, attention(changed.q, changed.k, changed.v).z);
  std::printf(
      "  Token 2 asks in row 2 only. It is read in rows 2, 3, 4: under the mask nobody earlier sees it.\n");
}

void rank_of_a_head(Random& random) {
  step("the rank of a head: x [16, 32], singular values above 0.00001 of the largest");
  const Tensor x = Tensor::uniform({16, 32}, -3, 3, random);  // [T, D]
  std::string cliff;
  std::printf("  d_h  scores  log pattern  pattern   (16 is full)\n");
  for (int64_t width : {1, 2, 4, 8, 16}) {
    const Linear q_proj(32, width, false, random), k_proj(32, width, false, random);
    const Tensor q = q_proj(x), k = k_proj(x);                                           // [T, d_h]
    const Tensor scores = scale(matmul(q, transpose(k)), 1 / std::sqrt(Scalar(width)));  // [T, T]
    std::printf("  %3d  %6d  %11d  %7d\n", int(width), numerical_rank(scores),
                numerical_rank(log_softmax(scores)), numerical_rank(softmax(scores)));
    if (width != 4) continue;
    const std::vector<double> values = singular_values(scores);
    for (size_t i = 0; i < 6; i++) cliff = text(cliff, " ", number(values[i] / values[0], 6));
  }
  std::printf("  scores, d_h = 4, largest six:%s\n", cliff.c_str());
}

void picture(Random& random) {
  step("one fresh layer of four heads, without and with the causal mask (here: its heads 0 and 1)");
  const MultiheadAttention layer({.embed_dim = 32, .num_heads = 4, .bias = false}, random);
  const Tensor x = Tensor::uniform({1, 8, 32}, -4, 4, random);                          // [B, T, D]
  const Tensor plain = layer.forward(x).pattern.named("plain");                         // [B, h, T, T]
  const Tensor causal = layer.forward(x, {.is_causal = true}).pattern.named("causal");  // [B, h, T, T]
  look(plain);
  look(causal);
  std::vector<std::vector<Panel>> sheet = {head_panels(plain, 0, {}, {}), head_panels(causal, 0, {}, {})};
  for (Panel& panel : sheet[0]) panel.title = "plain, " + panel.title;
  for (Panel& panel : sheet[1]) panel.title = "causal, " + panel.title;
  std::printf("%s", heat_grids({sheet[0][0], sheet[0][1], sheet[1][0], sheet[1][1]}).c_str());
  const std::string path = output_file("07-attend", "heads.png");
  write_heat_maps(path, "four heads of a fresh layer: each row is one query, and sums to 1", sheet);
  std::printf("  picture: %s\n", path.c_str());
}

// What the three projections make of x.
Heads project(const Tensor& x, const Linear (&layers)[3]) {
  return {split_heads(layers[0](x), h).named("q"), split_heads(layers[1](x), h).named("k"),
          split_heads(layers[2](x), h).named("v")};
}

void lesson() {
  Random random(7);
  const Tensor x = Tensor::uniform({B, T, D}, -1, 1, random);  // [B, T, D]
  Tensor other = Tensor::from(x.shape(), x.values());          // [B, T, D], with another token 2 in item 0
  for (int64_t j = 2 * D; j < 3 * D; j++) other.mutable_values()[size_t(j)] += 1;
  const Linear projections[3] = {{D, D, false, random}, {D, D, false, random}, {D, D, false, random}};
  const Heads heads = project(x, projections);

  scale_and_axis();
  one_by_one(heads);
  causal_mask();
  mask_per_item(random);
  nothing_allowed(heads);
  change_one_token(heads, project(other, projections));
  rank_of_a_head(random);
  picture(random);
}

}  // namespace

int main() { return run_lesson(lesson); }

// Lesson 09: the last matrix, W_O. Side by side and then projected is the same as every head through its own
// rows of W_O, and then added. So heads can be computed apart, removed one by one, and written anywhere.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "core/node.h"
#include "core/print.h"
#include "core/settings.h"
#include "show/grid.h"
#include "show/lesson.h"
#include "show/picture.h"
#include "show/table.h"
#include "tasks/reader.h"

using namespace headway;

namespace {

const Masking causal = {.is_causal = true};

// What head i adds: its z through its own rows of W_O, i d_h .. (i + 1) d_h - 1.
Tensor addend(const MultiheadAttention& attn, const Tensor& z, int64_t i) {
  const int64_t d_h = z.dim(3);
  const Tensor z_i = reshape(slice(z, 1, i, i + 1), {z.dim(0), z.dim(2), d_h});  // [B, T, d_h]
  const Tensor rows = slice(attn.out_proj.weight, 0, i * d_h, (i + 1) * d_h);    // [d_h, D]
  return matmul(z_i, rows);                                                      // [B, T, D]
}

// The sum of the addends of all heads but `without`, and the bias once.
Tensor sum_over_heads(const MultiheadAttention& attn, const Tensor& z, int64_t without = -1) {
  Tensor total = attn.out_proj.bias;  // [D]
  for (int64_t i = 0; i < z.dim(1); i++) {
    if (i != without) total = total + addend(attn, z, i);  // [B, T, D]
  }
  return total;
}

// [1, .., 0, .., 1]: only head i is off.   [h]
Tensor gate_without(int64_t h, int64_t i) {
  std::vector<Scalar> gate(size_t(h), 1);
  gate[size_t(i)] = 0;
  return Tensor::from({h}, gate);  // [h]
}

void by_hand() {
  step("by hand: one token, two heads of width 2, a stream of width 2");
  const Tensor z = Tensor::from({1, 2, 1, 2}, {1, 2, 3, 1}).named("z");             // [B, h, T, d_h]
  const Tensor W_O = Tensor::from({4, 2}, {1, 0, 0, 1, 2, 0, 0, -1}).named("W_O");  // [h d_h, D]
  look(z);
  look(W_O);
  double part[2][2] = {{0, 0}, {0, 0}};  // [h, D]
  for (int i = 0; i < 2; i++) {
    for (int e = 0; e < 2; e++) {
      for (int j = 0; j < 2; j++) part[i][j] += double(z.at({0, i, 0, e}) * W_O.at({2 * i + e, j}));
    }
  }
  for (int i = 0; i < 2; i++) {
    std::printf("  head %d says (%s %s); times rows %d and %d of W_O: (%s %s)\n", i,
                number(double(z.at({0, i, 0, 0})), 0).c_str(), number(double(z.at({0, i, 0, 1})), 0).c_str(),
                2 * i, 2 * i + 1, number(part[i][0], 0).c_str(), number(part[i][1], 0).c_str());
  }
  const Scalar sum0 = Scalar(part[0][0] + part[1][0]), sum1 = Scalar(part[0][1] + part[1][1]);
  std::printf("  added: (%s %s)\n", number(double(sum0), 0).c_str(), number(double(sum1), 0).c_str());
  expect_same_bits("the two added, and (1 2 3 1) times W_O", Tensor::from({1, 1, 2}, {sum0, sum1}),
                   matmul(merge_heads(z), W_O));
}

void heads_add_up() {
  step("the layer: D = 12, h = 3, d_h = 4");
  const NoGrad no_grad;
  Random random(1);
  const MultiheadAttention attn({.embed_dim = 12, .num_heads = 3}, random);
  const Tensor x = Tensor::uniform({2, 5, 12}, -1, 1, random);  // [B, T, D]
  const MultiheadAttention::Output all = attn.forward(x, causal);
  look(all.z.named("z"));
  look(addend(attn, all.z, 1).named("what head 1 adds"));
  expect_close("out and the sum over heads + bias", all.out, sum_over_heads(attn, all.z), 1e-6);
  std::printf("  The last bit may differ: one long chain of 12 products, against three short ones, added.\n");

  const Tensor gated = attn.forward(x, causal, {}, gate_without(3, 1)).out;  // [B, T, D]
  expect_close("gate 1 0 1 and the sum without head 1", gated, sum_over_heads(attn, all.z, 1), 1e-6);
  expect_close("out - gated and what head 1 adds", all.out - gated, addend(attn, all.z, 1), 1e-6);
  MultiheadAttention cut = attn;
  const Tensor W_O = attn.out_proj.weight;  // [h d_h, D]
  cut.out_proj.weight =
      concat({slice(W_O, 0, 0, 4), Tensor::zeros({4, 12}), slice(W_O, 0, 8, 12)}, 0);  // [h d_h, D]
  expect_same_bits("gate 1 0 1 and zeros in rows 4..7 of W_O", gated, cut(x, causal));
}

// A layer with `heads` of the heads of `full`, from `first` on: their columns of W_Q, W_K, W_V and their rows
// of W_O. The bias of out_proj belongs to no head: only the layer that holds head 0 adds it.
MultiheadAttention part_of(const MultiheadAttention& full, int64_t first, int64_t heads) {
  const int64_t D = full.out_proj.weight.dim(1), d_h = full.out_proj.weight.dim(0) / full.num_heads;
  const int64_t start = first * d_h, stop = (first + heads) * d_h;
  Random unused(0);
  MultiheadAttention part({.embed_dim = D, .num_heads = heads, .head_dim = d_h}, unused);
  const Linear* from[] = {&full.q_proj, &full.k_proj, &full.v_proj};
  Linear* to[] = {&part.q_proj, &part.k_proj, &part.v_proj};
  for (int i = 0; i < 3; i++) {
    to[i]->weight = slice(from[i]->weight, 1, start, stop);  // [D, heads d_h]
    to[i]->bias = slice(from[i]->bias, 0, start, stop);      // [heads d_h]
  }
  part.out_proj.weight = slice(full.out_proj.weight, 0, start, stop);         // [heads d_h, D]
  part.out_proj.bias = first == 0 ? full.out_proj.bias : Tensor::zeros({D});  // [D]
  return part;
}

void two_machines() {
  step("two machines: heads 0-1 here, heads 2-3 there, D = 16");
  const NoGrad no_grad;
  Random random(2);
  const MultiheadAttention full({.embed_dim = 16, .num_heads = 4}, random);
  const Tensor x = Tensor::uniform({2, 5, 16}, -1, 1, random);  // [B, T, D]
  const MultiheadAttention here = part_of(full, 0, 2), there = part_of(full, 2, 2);
  look(here(x, causal).named("here"));
  look(there(x, causal).named("there"));
  expect_close("here + there and the whole layer", here(x, causal) + there(x, causal), full(x, causal), 1e-6);
  std::printf("  numbers held: here %d, there %d, whole layer %d\n", int(count(here.parameters())),
              int(count(there.parameters())), int(count(full.parameters())));
  std::printf("  (there holds a bias of 16 zeros, so that b_O is added once)\n");
  const int with = int(count(full.parameters())), of_out = int(count(full.out_proj.parameters()));
  std::printf("  parameters with out_proj %d, without it %d\n", with, with - of_out);
}

void linear_reader(int first_seed, int steps) {
  step("what W_O buys behind a linear reader: nothing");
  {
    const NoGrad no_grad;
    Random random(3);
    const ReaderModel model(kback(4), {.num_heads = 4}, random);
    const Tensor x = Tensor::uniform({2, 12, 32}, -1, 1, random);  // [B, T, D]
    const MultiheadAttention::Output read = model.attn.forward(x, causal);
    const Tensor one = matmul(model.attn.out_proj.weight, model.readers.weight);  // [D, answers answer_size]
    const Tensor logits =
        matmul(merge_heads(read.z), one) + model.readers.bias;  // [B, T, answers answer_size]
    expect_close("W_O then W_reader, and their product as one matrix", model.readers(read.out), logits, 1e-6);
  }
  std::printf("  k = 4, h = 4, %d steps: the share of right answers\n", steps);
  std::vector<std::vector<double>> rows;
  for (int seed = first_seed; seed < first_seed + 5; seed++) {
    rows.emplace_back();
    for (bool mix : {true, false}) {
      rows.back().push_back(
          score(train_reader(kback(4), {.num_heads = 4, .mix = mix}, seed, steps)).accuracy);
    }
  }
  over_seeds(first_seed, int(rows.size()), {"with W_O", "without"},
             [&](int seed) { return rows[size_t(seed - first_seed)]; });
}

// How much each column of the stream changes when head i is switched off, row i: the mean over the tokens.
Tensor written_by_heads(const MultiheadAttention& attn, const Tensor& x, bool mix) {
  const int64_t h = attn.num_heads, D = x.dim(2), tokens = x.dim(0) * x.dim(1);
  std::vector<Tensor> per_head;
  for (int64_t i = 0; i < h; i++) {
    const MultiheadAttention::Output all = attn.forward(x, causal),
                                     off = attn.forward(x, causal, {}, gate_without(h, i));
    const Tensor change = mix ? all.out - off.out : merge_heads(all.z) - merge_heads(off.z);  // [B, T, D]
    std::vector<Scalar> total(size_t(D), 0);
    for (int64_t n = 0; n < change.size(); n++)
      total[size_t(n % D)] += std::abs(change.data()[n]) / Scalar(tokens);
    per_head.push_back(Tensor::from({1, D}, total));
  }
  return concat(per_head, 0);  // [h, D]
}

void in_a_block() {
  step("what W_O buys in a block: a head may write anywhere");
  const NoGrad no_grad;
  Random random(4);
  const MultiheadAttention attn({.embed_dim = 12, .num_heads = 3}, random);
  const Tensor x = Tensor::uniform({2, 5, 12}, -1, 1, random);  // [B, T, D]
  std::vector<Panel> panels;
  for (bool mix : {false, true}) {
    const Tensor change = written_by_heads(attn, x, mix).named(mix ? "with W_O" : "without W_O");  // [h, D]
    look(change);
    const Scalar most = *std::max_element(change.values().begin(), change.values().end());
    panels.push_back({.title = mix ? "with W_O" : "without W_O",
                      .matrix = scale(change, 1 / most),
                      .rows = {"head 0", "head 1", "head 2"},
                      .down = "heads",
                      .across = "columns of the stream"});
  }
  std::printf("%s", heat_grids(panels).c_str());
  std::printf("  (1: the largest change in each of the two maps)\n");
  for (const Panel& panel : panels) {
    const std::span<const Scalar> head_1 = panel.matrix.values().subspan(12, 12);
    std::printf("  %-11s  head 1 changes %d of 12 columns of the stream\n", panel.title.c_str(),
                int(std::count_if(head_1.begin(), head_1.end(), [](Scalar change) { return change > 0; })));
  }
  const std::string file = output_file("09-project", "columns.png");
  write_heat_maps(file, "how much each head changes each column of the stream", {panels});
  std::printf("  picture: %s\n", file.c_str());
}

// The entries of a text file: a line "@ name sizes", then the numbers. Other lines between them are comments.
std::map<std::string, Tensor> read_entries(const std::string& path) {
  std::ifstream file(path);
  if (!file)
    throw FileError(Message("cannot read '" + path + "'").hint("run from the folder of the Makefile"));
  std::map<std::string, Tensor> entries;
  for (std::string word, rest; file >> word && std::getline(file, rest);) {
    if (word != "@") continue;
    std::istringstream head(rest);
    std::string name;
    head >> name;
    Shape shape;
    for (int64_t size; head >> size;) shape.push_back(size);
    std::vector<Scalar> numbers(size_t(element_count(shape)));
    for (Scalar& number : numbers) file >> number;
    entries[name] = Tensor::from(shape, numbers).named(name);
  }
  return entries;
}

void against_pytorch() {
  step("the finished layer against PyTorch's numbers");
  const std::map<std::string, Tensor> torch = read_entries("data/torch_attention.txt");
  Random unused(0);
  const MultiheadAttention attn({.embed_dim = 12, .num_heads = 3}, unused);
  for (Parameter p : attn.parameters()) {
    const std::span<const Scalar> given = torch.at(p.name).values();
    std::copy(given.begin(), given.end(), p.tensor.mutable_values().begin());
  }
  const Tensor x = torch.at("x").requires_grad();  // [B, T, D]
  const MultiheadAttention::Output ours = attn.forward(x, causal);
  look(ours.out.named("out, ours"));
  look(torch.at("out"));
  sum(ours.out * torch.at("projection")).backward();
  expect_close("out", ours.out, torch.at("out"), 1e-5);
  expect_close("pattern, head by head", ours.pattern, torch.at("pattern"), 1e-5);
  expect_close("gradient of x", x.grad(), torch.at("dx"), 1e-5);
}

void not_square() {
  step("h d_h need not be D: W_O is then not square");
  const NoGrad no_grad;
  Random random(5);
  const MultiheadAttention attn({.embed_dim = 12, .num_heads = 5, .head_dim = 4}, random);
  const Tensor x = Tensor::uniform({2, 5, 12}, -1, 1, random);  // [B, T, D]
  const MultiheadAttention::Output all = attn.forward(x, causal);
  look(attn.out_proj.weight);
  std::printf("  x %s -> z %s -> merged %s, times W_O %s -> out %s\n", to_text(x.shape()).c_str(),
              to_text(all.z.shape()).c_str(), to_text(merge_heads(all.z).shape()).c_str(),
              to_text(attn.out_proj.weight.shape()).c_str(), to_text(all.out.shape()).c_str());
  expect_close("out and the sum over five heads + bias", all.out, sum_over_heads(attn, all.z), 1e-6);
}

const Setting seed_setting = {"SEED", 0, 0, 1000000}, steps_setting = {"STEPS", 300, 1, 100000};

void lesson() {
  const int first_seed = seed_setting.value(), steps = steps_setting.value();
  by_hand();
  heads_add_up();
  two_machines();
  linear_reader(first_seed, steps);
  in_a_block();
  against_pytorch();
  not_square();
}

}  // namespace

int main() { return run_lesson(lesson, {seed_setting, steps_setting}); }

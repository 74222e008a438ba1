// Lesson 08: merge puts the heads of each token side by side again. Then the wrong way: the right shape, a
// falling loss, good answers, and two faults behind them. What finds them: change one token, see who moves.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/print.h"
#include "core/settings.h"
#include "show/grid.h"
#include "show/lesson.h"
#include "show/picture.h"
#include "show/table.h"
#include "tasks/sequences.h"

using namespace headway;

namespace {

constexpr int T = line_length, seeds = 3;

// The definition: out[b][t][i d_h + e] = z[b][i][t][e].
Tensor merge_by_hand(const Tensor& z) {
  const int64_t B = z.dim(0), h = z.dim(1), tokens = z.dim(2), d_h = z.dim(3);
  Tensor out = Tensor::zeros({B, tokens, h * d_h});  // [B, T, D]
  Scalar* next = out.mutable_values().data();        // the numbers of out, in order
  for (int64_t b = 0; b < B; b++) {
    for (int64_t t = 0; t < tokens; t++) {
      for (int64_t i = 0; i < h; i++) {
        for (int64_t e = 0; e < d_h; e++) *next++ = z.at({b, i, t, e});
      }
    }
  }
  return out;
}

// The wrong ones: the numbers stay in their order, only the shape changes.
Tensor merge_by_reshape(const Tensor& z) {
  return reshape(z, {z.dim(0), z.dim(2), z.dim(1) * z.dim(3)});  // [B, T, D]
}
Tensor split_by_reshape(const Tensor& x, int64_t h) {
  return reshape(x, {x.dim(0), h, x.dim(1), x.dim(2) / h});  // [B, h, T, d_h]
}

struct Wiring {
  const char* title;
  Tensor (*split)(const Tensor& x, int64_t h);
  Tensor (*merge)(const Tensor& z);
};
const Wiring right = {"right", split_heads, merge_heads};
const Wiring wrong_merge = {"wrong merge", split_heads, merge_by_reshape};
const Wiring both_wrong = {"both wrong", split_by_reshape, merge_by_reshape};

Transformer fresh_model(int num_layers, const Wiring& wiring, Random& weights) {
  Transformer model = line_model(num_layers, weights);
  for (Block& block : model.blocks) {
    block.attn.split = wiring.split;
    block.attn.merge = wiring.merge;
  }
  return model;
}

Transformer trained(int num_layers, const Wiring& wiring, DrawLines draw, int seed, int steps) {
  Random random{uint64_t(seed)};
  Random data = random.split(), weights = random.split();
  const Transformer model = fresh_model(num_layers, wiring, weights);
  train_lines(model, draw, steps, data);
  return model;
}

// Each row in brackets: [0 1] [4 5] [8 9]
std::string rows_of(const Tensor& t) {
  std::string out;
  for (int64_t i = 0; i < t.size(); i++) {
    out += (i % t.dim(-1) == 0 ? " [" : " ") + number(double(t.data()[i]), 0);
    if ((i + 1) % t.dim(-1) == 0) out += "]";
  }
  return out;
}

// Where the twelve numbers stand: as heads, merged, and merged by reshape.
void draw_entries(const Tensor& z) {
  const auto head = [&](int64_t i) { return reshape(slice(z, 1, i, i + 1), {3, 2}); };  // [T, d_h]
  const Tensor merged = reshape(merge_heads(z), {3, 4}),
               wrong = reshape(merge_by_reshape(z), {3, 4});  // [T, D]
  const std::string path = output_file("08-merge", "entries.png");
  write_heat_maps(path, "before and after the merge: numbers 0 to 11, a shade for each token",
                  {{numbered_panel("before: head 0", head(0), 4, 3), numbered_panel("head 1", head(1), 4, 3)},
                   {numbered_panel("merged", merged, 4, 3), numbered_panel("reshape alone", wrong, 4, 3)}});
  std::printf("  picture: %s\n", path.c_str());
}

void by_hand() {
  step("merge: the pieces of one token, side by side again");
  const Tensor x = Tensor::from({1, 3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}).named("x");  // [B, T, D]
  const Tensor z = split_heads(x, 2).named("z");  // [B, h, T, d_h]
  look(z);
  look(merge_heads(z).named("merged"));
  std::printf("  x, 3 tokens of 4   %s\n", rows_of(x).c_str());
  std::printf("  z, head 0          %s\n", rows_of(slice(z, 1, 0, 1)).c_str());
  std::printf("  z, head 1          %s\n", rows_of(slice(z, 1, 1, 2)).c_str());
  std::printf("  merge_heads(z)     %s\n", rows_of(merge_heads(z)).c_str());

  Random random(1);
  const Tensor more = Tensor::uniform({2, 5, 12}, -1, 1, random);  // [B, T, D]
  const Tensor pieces = split_heads(more, 3);                      // [B, h, T, d_h]
  expect_same_bits("four loops and merge_heads", merge_by_hand(pieces), merge_heads(pieces));
  expect_same_bits("merge_heads(split_heads(x, 3)) and x", merge_heads(pieces), more);

  step("the wrong merge: reshape without permute");
  look(merge_by_reshape(z).named("merged by reshape"));
  std::printf("  merge_by_reshape(z)%s\n", rows_of(merge_by_reshape(z)).c_str());
  std::printf(
      "  The shape is right. Row 0 holds tokens 0 and 1 of head 0, row 2 tokens 1 and 2 of head 1.\n");
  draw_entries(z);
}

// The model goes on alone from the mark, in a line that always has T tokens: places it has not reached hold
// the mark. The share of right answers, on the lines of score_lines.
double alone_at_full_length(const Transformer& model, DrawLines draw) {
  const NoGrad no_grad;
  const int batch = 500;
  Random data(1000003);
  Lines lines = draw(batch, data);
  for (int i = 0; i < batch * T; i++) {
    if (i % T > line_words) lines.tokens[size_t(i)] = line_mark;
  }
  int correct = 0;
  for (int t = line_words; t < T; t++) {
    const Tensor logits = model(lines.tokens, batch, T);  // [B, T, V]
    for (int i = t; i < batch * T; i += T) {
      const Scalar* row = logits.data() + i * logits.dim(-1);
      const int next = int(std::max_element(row, row + logits.dim(-1)) - row);
      correct += next == lines.targets[size_t(i)];
      if (t + 1 < T) lines.tokens[size_t(i + 1)] = next;
    }
  }
  return double(correct) / (batch * line_words);
}

struct Task {
  const char* name;
  DrawLines draw;
};

void print_tasks(const Wiring& wiring, const std::vector<Task>& tasks, int first_seed, int steps) {
  std::vector<std::string> columns;
  for (const Task& task : tasks) columns.insert(columns.end(), {task.name, "alone", "at 12"});
  std::vector<std::vector<double>> rows;
  for (int seed = first_seed; seed < first_seed + seeds; seed++) {
    rows.emplace_back();
    for (const Task& task : tasks) {
      const Transformer model = trained(2, wiring, task.draw, seed, steps);
      const LineScore score = score_lines(model, task.draw);
      const double at_12 = alone_at_full_length(model, task.draw);
      rows.back().insert(rows.back().end(), {score.accuracy, score.generated_accuracy, at_12});
    }
  }
  std::printf("  %s\n", wiring.title);
  over_seeds(first_seed, int(rows.size()), columns,
             [&](int seed) { return rows[size_t(seed - first_seed)]; });
}

// T + 1 lines: a random one, and for each s the same line with another token at place s.   [T+1, T]
std::vector<int> changed_lines() {
  Random random(2);
  const std::vector<int> line = noise_lines(1, random).tokens;
  std::vector<int> all = line;
  for (int s = 0; s < T; s++) {
    all.insert(all.end(), line.begin(), line.end());
    int& token = all[size_t((s + 1) * T + s)];
    token = (token + 1) % line_symbols;
  }
  return all;
}

// y [T+1, T, w]: what was made of changed_lines(). 1 where changing token s moves row t in any bit, else 0.
Tensor moved(const Tensor& y) {
  const int64_t w = y.dim(2);
  std::vector<Scalar> map;
  for (int t = 0; t < T; t++) {
    for (int s = 0; s < T; s++) {
      const Scalar* before = y.data() + t * w;
      map.push_back(std::equal(before, before + w, before + (s + 1) * T * w) ? 0 : 1);
    }
  }
  return Tensor::from({T, T}, map);  // [T, T]
}

// No training is needed to see which tokens can move which outputs.
Tensor moved_outputs(int num_layers, const Wiring& wiring) {
  Random weights(3);
  return moved(fresh_model(num_layers, wiring, weights)(changed_lines(), T + 1, T));  // [T, T]
}

// The detector: of all pairs t < s, the share in which token s moves the earlier output t.
double share_of_earlier(const Tensor& map) {
  double movers = 0;
  for (int64_t s = 0; s < T; s++) {
    for (int64_t t = 0; t < s; t++) movers += double(map.at({t, s}));
  }
  return movers / (T * (T - 1) / 2);
}

Tensor who_moves() {
  step("change token s: which outputs t move?");
  std::vector<Panel> panels;
  for (const Wiring& wiring : {right, wrong_merge, both_wrong}) {
    panels.push_back(
        {.title = wiring.title, .matrix = moved_outputs(1, wiring), .down = "output t", .across = "token s"});
  }
  std::printf("%s", heat_grids(panels).c_str());
  const std::string file = output_file("08-merge", "movers.png");
  write_heat_maps(file, "one block: which tokens s move which outputs t", {panels});
  std::printf("  picture: %s\n  earlier outputs that move:   one block   two blocks\n", file.c_str());
  for (const Wiring& wiring : {right, wrong_merge, both_wrong}) {
    std::printf("    %-24s %11s %12s\n", wiring.title,
                number(share_of_earlier(moved_outputs(1, wiring)), 2).c_str(),
                number(share_of_earlier(moved_outputs(2, wiring)), 2).c_str());
  }
  return panels[1].matrix.named("wrong merge: who moves the outputs");  // [T, T]
}

// Place t must name token t + 1. Where that token moves the output the loss can fall to 0, elsewhere to ln 8.
bool sees_answer(const Tensor& map, int64_t t) { return t + 1 < T && map.at({t, t + 1}) > 0; }
double floor_on_noise(const Tensor& map) {
  int blind = 0;
  for (int64_t t = 0; t < T; t++) blind += !sees_answer(map, t);
  return blind * std::log(double(line_symbols)) / T;
}

// Mean loss at each place, on 500 fresh lines.
Tensor loss_by_place(const Transformer& model) {
  const NoGrad no_grad;
  Random data(1000003);
  const Lines fresh = noise_lines(500, data);
  const Tensor logits = model(fresh.tokens, 500, T);                                       // [B, T, V]
  return mean(cross_entropy(logits, fresh.targets, {.reduction = Reduction::none}), {0});  // [T]
}

void noise(const Tensor& map, int first_seed, int steps) {
  step("noise: a loss that is too good");
  look(map);
  std::vector<std::vector<double>> rows;
  std::string sees, losses_right, losses_wrong;
  for (int seed = first_seed; seed < first_seed + seeds; seed++) {
    const Tensor good = loss_by_place(trained(1, right, noise_lines, seed, steps));       // [T]
    const Tensor bad = loss_by_place(trained(1, wrong_merge, noise_lines, seed, steps));  // [T]
    rows.push_back({double(mean(good).item()), double(mean(bad).item())});
    for (int64_t t = 0; t < T && seed == first_seed; t++) {
      sees += padded(sees_answer(map, t) ? "yes" : "no", 6);
      losses_right += padded(number(double(good.at({t})), 2), 6);
      losses_wrong += padded(number(double(bad.at({t})), 2), 6);
    }
  }
  std::printf(
      "  Tokens without any rule, one block. Who cannot see the future cannot be better than ln 8 = %s.\n",
      number(std::log(8.0), 3).c_str());
  over_seeds(first_seed, int(rows.size()), {"right", "wrong merge"},
             [&](int seed) { return rows[size_t(seed - first_seed)]; });
  std::printf("  lowest loss that the map of the wrong merge allows: one block %s, two blocks %s\n",
              number(floor_on_noise(map), 3).c_str(),
              number(floor_on_noise(moved_outputs(2, wrong_merge)), 3).c_str());
  std::printf("  place by place, seed %d: can output t see token t + 1 (wrong merge)?\n", first_seed);
  std::printf("    sees %s\n    right%s\n    wrong%s\n", sees.c_str(), losses_right.c_str(),
              losses_wrong.c_str());
}

// "0..6", or "6" alone: the first and the last token that moves row t.
std::string movers_of(const Tensor& map, int64_t t) {
  int64_t first = T, last = -1;
  for (int64_t s = 0; s < T; s++) {
    if (map.at({t, s}) == 0) continue;
    first = std::min(first, s);
    last = s;
  }
  return first == last ? text(last) : text(first, "..", last);
}

void double_fault() {
  step("split and merge both wrong: nothing leaks, and yet");
  Random random(4);
  const Tensor x = Tensor::uniform({2, 5, 12}, -1, 1, random);  // [B, T, D]
  expect_same_bits("merge_by_reshape(split_by_reshape(x, 3)) and x", merge_by_reshape(split_by_reshape(x, 3)),
                   x);
  std::printf(
      "  The round trip is silent, and so is the detector. Ask each head: who moves your last row?\n");
  std::vector<std::vector<Panel>> sheet;
  for (const Wiring& wiring : {right, both_wrong}) {
    Random weights(3);
    const Transformer model = fresh_model(1, wiring, weights);
    const Tensor stream = model.tok(changed_lines(), {T + 1, T}) + model.pos.weight;  // [T+1, T, D]
    const Tensor z = model.blocks[0].attn.forward(stream, {.is_causal = true}).z;     // [T+1, h, T, d_h]
    sheet.emplace_back();
    std::printf("    %-10s", wiring.title);
    for (int64_t i = 0; i < z.dim(1); i++) {
      const Tensor z_i = reshape(slice(z, 1, i, i + 1), {T + 1, T, z.dim(3)});          // [T+1, T, d_h]
      const Tensor map = moved(z_i).named(text(wiring.title, ": who moves head ", i));  // [T, T]
      sheet.back().push_back(
          {.title = text(wiring.title, ", head ", i), .matrix = map, .down = "row t", .across = "token s"});
      std::printf("   head %d: %-5s", int(i), movers_of(map, T - 1).c_str());
    }
    std::printf("\n");
    look(sheet.back()[0].matrix);
  }
  const std::string file = output_file("08-merge", "heads.png");
  write_heat_maps(file, "which tokens s move which rows t of each head", sheet);
  std::printf("  picture: %s\n", file.c_str());
  std::printf("  output 6, two blocks, is moved by tokens: right %s, both wrong %s.\n",
              movers_of(moved_outputs(2, right), 6).c_str(),
              movers_of(moved_outputs(2, both_wrong), 6).c_str());
  std::printf("  In a copy it must name token 0, which cannot reach it: no training will help.\n");
}

const Setting seed_setting = {"SEED", 0, 0, 1000000}, steps_setting = {"STEPS", 100, 1, 100000};

void lesson() {
  const int first_seed = seed_setting.value(), steps = steps_setting.value();
  by_hand();
  step("it trains, and it reads well");
  std::printf(
      "  copy, reverse, sort: answers right while the model is told the right ones so far.\n"
      "  alone: it is told its own; the line grows from 7 tokens to 12. at 12: alone, but the line always\n"
      "  has 12 places, and those not reached yet hold the mark.\n");
  print_tasks(wrong_merge, {{"copy", copy_lines}, {"reverse", reverse_lines}, {"sort", sort_lines}},
              first_seed, steps);
  print_tasks(right, {{"sort", sort_lines}}, first_seed, steps);
  const Tensor map = who_moves();  // [T, T]
  noise(map, first_seed, steps);
  double_fault();
}

}  // namespace

int main() { return run_lesson(lesson, {seed_setting, steps_setting}); }

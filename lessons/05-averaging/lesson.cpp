// Lesson 05: one softmax gives one mixture. Two tokens mixed together are hard to tell apart for a linear
// reader; two heads keep them apart. An MLP finds both in one mixture: they were not lost, only not easy to
// read.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/print.h"
#include "core/settings.h"
#include "show/grid.h"
#include "show/lesson.h"
#include "show/picture.h"
#include "show/table.h"
#include "tasks/reader.h"

using namespace headway;

namespace {

// All lines of two tokens, older first, ordered by how much "a" an uneven mixture of them holds.
constexpr int line_count = 4;
const char* const lines[line_count] = {"aa", "ba", "ab", "bb"};
const Scalar arrow[2][2] = {{1, 0}, {0, 1}};  // of tokens a and b

struct Mixtures {
  Scalar z[line_count][2] = {};
};

// z = weight_0 arrow(older) + weight_1 arrow(newer)
Mixtures mix(const Scalar (&weights)[2]) {
  Mixtures out;
  for (int line = 0; line < line_count; line++) {
    for (int s = 0; s < 2; s++) {
      for (int i = 0; i < 2; i++) out.z[line][i] += weights[s] * arrow[lines[line][s] - 'a'][i];
    }
  }
  return out;
}

// The same by matmul: one row of weights times the two arrows of each line.
Tensor mix_by_matmul(const Scalar (&weights)[2]) {
  std::vector<Scalar> arrows;
  for (const char* line : lines) {
    for (int s = 0; s < 2; s++) arrows.insert(arrows.end(), arrow[line[s] - 'a'], arrow[line[s] - 'a'] + 2);
  }
  const Tensor pattern = Tensor::from({1, 2}, weights);            // [T, S]
  const Tensor values = Tensor::from({line_count, 2, 2}, arrows);  // [B, S, d_h]
  return matmul(pattern, values);                                  // [B, T, d_h]
}

// z is (share, 1 - share), so a linear reader says "a" on one side of a threshold on the share. How many of
// the four lines does the best one get right, asked for the token at `place` (0: two back, 1: one back)?
int best_threshold(const Mixtures& mixtures, int place) {
  int best = 0;
  for (double threshold : {0.2, 0.45, 0.55, 0.8}) {
    int right = 0;
    for (int line = 0; line < line_count; line++) {
      right += (double(mixtures.z[line][0]) > threshold) == (lines[line][place] == 'a');
    }
    best = std::max({best, right, line_count - right});
  }
  return best;
}

void by_hand() {
  const Scalar even_weights[2] = {Scalar(0.5), Scalar(0.5)}, uneven_weights[2] = {Scalar(0.4), Scalar(0.6)};
  const Mixtures even = mix(even_weights), uneven = mix(uneven_weights);
  std::printf("  line   0.5 and 0.5   0.4 and 0.6   2 back   1 back\n");
  for (int line = 0; line < line_count; line++) {
    std::printf("  %s       (%s, %s)    (%s, %s)        %c        %c\n", lines[line],
                number(even.z[line][0], 1).c_str(), number(even.z[line][1], 1).c_str(),
                number(uneven.z[line][0], 1).c_str(), number(uneven.z[line][1], 1).c_str(), lines[line][0],
                lines[line][1]);
  }
  expect_same_bits("even mixtures, loops and matmul", Tensor::from({line_count, 1, 2}, {even.z[0], 8}),
                   mix_by_matmul(even_weights));
  expect_same_bits("uneven mixtures, loops and matmul", Tensor::from({line_count, 1, 2}, {uneven.z[0], 8}),
                   mix_by_matmul(uneven_weights));
  std::printf("  right by the best linear reader:  even    2 back %d of 4, 1 back %d of 4\n",
              best_threshold(even, 0), best_threshold(even, 1));
  std::printf("                                    uneven  2 back %d of 4, 1 back %d of 4\n",
              best_threshold(uneven, 0), best_threshold(uneven, 1));
}

// Relu units bend the line of shares so that one threshold, 0, reads "2 back" from the uneven mixture.
void bend_by_hand() {
  const Scalar share[line_count] = {1, Scalar(0.6), Scalar(0.4), 0};
  std::printf("  by hand: f = -1 + 5 s - 15 relu(s - 0.4) + 15 relu(s - 0.6), where s is the share of a\n");
  for (int line = 0; line < line_count; line++) {
    const Scalar s = share[line];
    const Scalar f =
        -1 + 5 * s - 15 * std::max(s - share[2], Scalar(0)) + 15 * std::max(s - share[1], Scalar(0));
    std::printf("%s%s: s = %s, f = %s", line ? "    " : "  ", lines[line], number(s, 1).c_str(),
                number(f, 0).c_str());
  }
  std::printf("\n");  // f > 0 says a
}

// A reader that knows which two tokens came, but not in which order, counted over all pairs of 8 tokens.
void print_ceiling() {
  const int V = 8;
  double accuracy = 0, loss = 0;
  for (int a = 0; a < V; a++) {
    for (int b = 0; b < V; b++) {
      const int orders = a == b ? 1 : 2;  // how many pairs have this even mixture
      accuracy += 1.0 / orders / (V * V);
      loss += std::log(double(orders)) / (V * V);
    }
  }
  std::printf("  knows the pair, not the order: accuracy %s, loss %s   (1/8 + 7/8 * 1/2, and 7/8 ln 2)\n",
              number(accuracy, 4).c_str(), number(loss, 3).c_str());
  std::printf("  knows one of the two, names it twice: accuracy %s               ((1 + 1/8) / 2)\n",
              number((1 + 1.0 / V) / 2, 4).c_str());
}

// The mean weight of a head on the token j steps back, over the places where something is asked.
double weight_back(const ReaderModel& model, const Tensor& pattern, int head, int j) {
  const int T = model.task.length, k = model.task.answers;
  double total = 0;
  for (int t = k; t < T; t++) total += double(pattern.at({head, t, t - j}));
  return total / (T - k);
}

const Setting seed_setting = {"SEED", 0, 0, 1000000}, steps_setting = {"STEPS", 600, 1, 100000};

void lesson() {
  const int first_seed = seed_setting.value(), steps = steps_setting.value();

  step("by hand: lines of two tokens, a = (1, 0) and b = (0, 1), mixed");
  by_hand();

  step("what an even mixture allows, counted over all 64 pairs of 8 tokens");
  print_ceiling();

  step("trained: name the last two tokens, both read from one vector by linear readers");
  std::printf(
      "  one head: accuracy (mean of both, then each), loss, mean weights 1 and 2 steps back; then two heads\n");
  std::vector<std::vector<double>> rows;
  std::vector<ReaderModel> ones, twos;
  for (int seed = first_seed; seed < first_seed + 5; seed++) {
    ones.push_back(train_reader(kback(2), {.num_heads = 1}, seed, steps));
    twos.push_back(train_reader(kback(2), {.num_heads = 2}, seed, steps));
    const ReaderScore one = score(ones.back());
    const Tensor pattern = mean_pattern(ones.back());  // [1, T, T]
    rows.push_back({one.accuracy, one.per_answer[0], one.per_answer[1], one.loss,
                    weight_back(ones.back(), pattern, 0, 1), weight_back(ones.back(), pattern, 0, 2),
                    score(twos.back()).accuracy});
  }
  over_seeds(first_seed, int(rows.size()),
             {"h = 1", "1 back", "2 back", "loss", "weight 1", "weight 2", "h = 2"},
             [&](int seed) { return rows[size_t(seed - first_seed)]; });

  step("where they look, on average over 200 lines");
  std::vector<Panel> maps;
  for (const ReaderModel& model : {ones[0], twos[0]}) {
    const Tensor looks = mean_pattern(model);  // [h, T, T]
    const int64_t h = looks.dim(0), T = looks.dim(1);
    for (Panel& panel : head_panels(reshape(looks, {1, h, T, T}), 0, {}, {})) {
      panel.title = (h == 1 ? "one: " : "two: ") + panel.title;
      maps.push_back(panel);
    }
  }
  std::printf("%s", heat_grids(maps).c_str());
  const std::string picture = output_file("05-averaging", "one-and-two.png");
  write_heat_maps(picture, text("one head, and two heads, seed ", first_seed), {maps});
  std::printf("  picture: %s\n", picture.c_str());

  step("lost, or only not easy to read? An MLP behind the one head");
  bend_by_hand();
  std::vector<std::vector<double>> bent;
  for (int seed = first_seed; seed < first_seed + 5; seed++) {
    const ReaderOptions options = {.num_heads = 1, .mlp_dim = 128};
    const ReaderModel model = train_reader(kback(2), options, seed, std::max(1, steps / 2));
    const ReaderScore read = score(model);
    const Tensor pattern = mean_pattern(model);  // [1, T, T]
    bent.push_back({read.accuracy, read.per_answer[0], read.per_answer[1], read.loss,
                    weight_back(model, pattern, 0, 1), weight_back(model, pattern, 0, 2)});
  }
  over_seeds(first_seed, int(bent.size()), {"h = 1", "1 back", "2 back", "loss", "weight 1", "weight 2"},
             [&](int seed) { return bent[size_t(seed - first_seed)]; });
}

}  // namespace

int main() { return run_lesson(lesson, {seed_setting, steps_setting}); }

// Lesson 10: the finished layer at work. The same width, the same parameters, the same multiply-adds: only
// the number of heads changes, and with it how many things one vector can be read for.
#include <algorithm>
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

constexpr int T = 12, D = 32, K = 4;  // tokens, model width, the most tokens to name

struct Cost {
  int64_t parameters, multiply_adds, scores;
};

// One attention layer and one sequence of T tokens. Parameters and scores are counted in the layer itself.
Cost cost(int h, int d_h) {
  Random random(0);
  const MultiheadAttention layer({.embed_dim = D, .num_heads = h, .head_dim = d_h, .bias = false}, random);
  const Tensor pattern = layer.forward(Tensor::zeros({1, T, D})).pattern;  // [1, h, T, T]
  const int64_t projections = 4 * T * D * h * d_h;  // q, k, v and out: T rows through D x (h d_h)
  const int64_t heads = h * 2 * T * T * d_h;        // h times: scores [T, T] over d_h, mix [T, d_h] over T
  return {count(layer.parameters()), projections + heads, pattern.size()};
}

void print_costs() {
  std::printf("                    D = 32 cut into h heads               every head 32 wide\n");
  std::printf("   h       d_h    params  multiply-adds   scores     params  multiply-adds   scores\n");
  for (int h : {1, 2, 4, 8, 16}) {
    const Cost cut = cost(h, D / h), grown = cost(h, D);
    std::printf("  %2d       %3d    %6d  %13d   %6d     %6d  %13d   %6d\n", h, D / h, int(cut.parameters),
                int(cut.multiply_adds), int(cut.scores), int(grown.parameters), int(grown.multiply_adds),
                int(grown.scores));
  }
  std::printf("  4 D^2 = %d      4 T D^2 + 2 T^2 D = %d      scores: h T^2 = %d h\n", 4 * D * D,
              4 * T * D * D + 2 * T * T * D, T * T);
}

// The mean weight that a head gives to the token j steps back, over the places where something is asked.
double weight_back(const Tensor& patterns, int head, int j) {
  double total = 0;
  for (int t = K; t < T; t++) total += double(patterns.at({head, t, t - j}));
  return total / (T - K);
}

// holder[j - 1]: the head with the largest mean weight j steps back.
std::vector<int> holders(const Tensor& patterns) {
  std::vector<int> out;
  for (int j = 1; j <= K; j++) {
    int best = 0;
    for (int head = 1; head < int(patterns.dim(0)); head++) {
      if (weight_back(patterns, head, j) > weight_back(patterns, best, j)) best = head;
    }
    out.push_back(best);
  }
  return out;
}

// The accuracy of each answer when one head is switched off before out_proj.
std::vector<double> without_head(const ReaderModel& model, int head) {
  Tensor gate = Tensor::full({model.options.num_heads}, 1);  // [h]
  gate.mutable_values()[size_t(head)] = 0;
  return score(model, gate).per_answer;
}

const Setting seed_setting = {"SEED", 0, 0, 1000000}, steps_setting = {"STEPS", 600, 1, 100000};

void lesson() {
  const int first_seed = seed_setting.value(), steps = steps_setting.value();

  step("what h heads cost: one layer, one sequence of 12 tokens");
  print_costs();

  step("k = 2: name the last two tokens, accuracy");
  std::vector<std::vector<double>> two;
  for (int seed = first_seed; seed < first_seed + 5; seed++) {
    std::vector<double> row;
    for (int h : {1, 2}) row.push_back(score(train_reader(kback(2), {.num_heads = h}, seed, steps)).accuracy);
    two.push_back(row);
  }
  over_seeds(first_seed, int(two.size()), {"h = 1", "h = 2"},
             [&](int seed) { return two[size_t(seed - first_seed)]; });

  step("k = 4: name the last four tokens, accuracy");
  std::vector<std::vector<double>> four;
  std::vector<ReaderModel> models;  // with four heads, one per seed
  for (int seed = first_seed; seed < first_seed + 5; seed++) {
    std::vector<double> row;
    for (int h : {1, 2, 4}) {
      const ReaderModel model = train_reader(kback(K), {.num_heads = h}, seed, steps);
      row.push_back(score(model).accuracy);
      if (h == 4) models.push_back(model);
    }
    four.push_back(row);
  }
  over_seeds(first_seed, int(four.size()), {"h = 1", "h = 2", "h = 4"},
             [&](int seed) { return four[size_t(seed - first_seed)]; });

  step("where four heads look for k = 4, on average over 200 lines");
  const Tensor looks = reshape(mean_pattern(models[0]), {1, 4, T, T});  // [1, h, T, T]
  const std::vector<Panel> maps = head_panels(looks, 0, {}, {});
  std::printf("%s", heat_grids(maps).c_str());
  const std::string picture = output_file("10-many-heads", "four-heads.png");
  write_heat_maps(picture, text("four heads, k = 4, seed ", first_seed), {maps});
  std::printf("  picture: %s\n", picture.c_str());

  step("which head holds which step back, and its mean weight there");
  std::printf("  seed        1 back        2 back        3 back        4 back\n");
  std::vector<std::vector<int>> held;
  int shared_out = 0;
  for (size_t i = 0; i < models.size(); i++) {
    const Tensor patterns = mean_pattern(models[i]);  // [h, T, T]
    held.push_back(holders(patterns));
    std::printf("  %-4d", first_seed + int(i));
    bool one_each = true;
    for (int j = 1; j <= K; j++) {
      const int head = held[i][size_t(j - 1)];
      one_each = one_each && std::count(held[i].begin(), held[i].end(), head) == 1;
      std::printf("  head %d %s", head, number(weight_back(patterns, head, j), 3).c_str());
    }
    std::printf("\n");
    shared_out += one_each;
  }
  std::printf("  one head per offset in %d of %zu seeds\n", shared_out, models.size());

  step("switch one head off: what happens to the four answers");
  std::printf("  seed %d      1 back  2 back  3 back  4 back\n", first_seed);
  for (int head = 0; head < 4; head++) {
    std::string cells;
    for (double accuracy : without_head(models[0], head)) cells += padded(number(accuracy, 3), 8);
    std::printf("  no head %d %s\n", head, cells.c_str());
  }
  std::vector<std::vector<double>> own;
  for (size_t i = 0; i < models.size(); i++) {
    std::vector<double> row;
    double least_other = 1;
    for (size_t j = 0; j < K; j++) {
      const std::vector<double> left = without_head(models[i], held[i][j]);
      row.push_back(left[j]);
      for (size_t other = 0; other < K; other++) {
        if (other != j) least_other = std::min(least_other, left[other]);
      }
    }
    row.push_back(least_other);
    own.push_back(row);
  }
  std::printf("  each answer without the head that holds it, and the smallest of all other answers then\n");
  over_seeds(first_seed, int(own.size()), {"1 back", "2 back", "3 back", "4 back", "others"},
             [&](int seed) { return own[size_t(seed - first_seed)]; });
}

}  // namespace

int main() { return run_lesson(lesson, {seed_setting, steps_setting}); }

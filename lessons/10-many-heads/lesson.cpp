// Lesson 10: the finished layer at work. The same width, the same parameters, the same multiply-adds: only the number
// of heads changes, and with it how many things one vector can be read for.
#include <cstdio>

#include "core/print.h"
#include "show/grid.h"
#include "show/lesson.h"
#include "show/picture.h"
#include "tasks/reader.h"
#include "tasks/settings.h"

using namespace headway;

namespace {

constexpr int T = 12, D = 32;

// Parameters and multiply-adds of one attention layer for one sequence of T tokens, h heads of D / h.
void print_cost(int h) {
  const int d_h = D / h;
  const int parameters = 4 * D * D;                       // W_Q, W_K, W_V, W_O
  const int multiply_adds = T * parameters                // the four projections
                            + h * 2 * T * T * d_h;        // h times: scores [T, T] over d_h, mix [T, d_h] over T
  std::printf("  %2d  %3d  %6d  %7d  %6d\n", h, d_h, parameters, multiply_adds, h * T * T);
}

void lesson() {
  const int first_seed = setting("SEED", 0, 0, 1000000), steps = setting("STEPS", 600, 1, 100000);

  step("the same cost: a width of 32 cut into h heads");
  std::printf("   h  d_h  params  mul-add  scores\n");
  for (int h : {1, 2, 4}) print_cost(h);

  step("k = 2: name the last two tokens");
  std::vector<std::vector<double>> two;
  for (int seed = first_seed; seed < first_seed + 5; seed++) {
    std::vector<double> row;
    for (int h : {1, 2}) row.push_back(score(train_reader(kback(2), {.num_heads = h}, seed, steps)).accuracy);
    two.push_back(row);
  }
  print_seeds(first_seed, {"h = 1", "h = 2"}, two);

  step("k = 4: name the last four tokens");
  std::vector<std::vector<double>> four;
  Tensor patterns;  // [h, T, T] of the first seed with four heads
  for (int seed = first_seed; seed < first_seed + 5; seed++) {
    std::vector<double> row;
    for (int h : {1, 2, 4}) {
      const ReaderModel model = train_reader(kback(4), {.num_heads = h}, seed, steps);
      row.push_back(score(model).accuracy);
      if (h == 4 && seed == first_seed) patterns = mean_pattern(model);
    }
    four.push_back(row);
  }
  print_seeds(first_seed, {"h = 1", "h = 2", "h = 4"}, four);
}

}  // namespace

int main() { return run_lesson(lesson); }

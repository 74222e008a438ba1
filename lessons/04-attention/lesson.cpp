// Lesson 04: one head. Scores, softmax, mix: first with loops, then with the ops. Why the scores are
// divided by sqrt(d_h), what the causal mask hides, and why a reader needs places to say "one step back" but
// not to look something up.
#include <algorithm>
#include <cstdio>

#include "core/maths.h"
#include "core/print.h"
#include "core/settings.h"
#include "show/grid.h"
#include "show/lesson.h"
#include "show/picture.h"
#include "show/table.h"
#include "tasks/reader.h"

using namespace headway;

namespace {

constexpr int T = 3, d_h = 4, d_v = 2;  // of the example by hand

const Scalar asks[T][d_h] = {{2, 0, 1, 1}, {0, 1, 3, 3}, {1, 2, 1, 1}};    // q, what each token looks for
const Scalar offers[T][d_h] = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 1, 1}};  // k, what each token is found by
const Scalar gives[T][d_v] = {{10, 0}, {0, 10}, {10, 10}};                 // v, what each token hands over

struct ByHand {
  Scalar scores[T][T] = {}, pattern[T][T] = {}, z[T][d_v] = {};
};

// z_t = sum over s of softmax_s(q_t . k_s / sqrt(d_h)) v_s. Causal: s only runs up to t.
// The op takes the largest score off each row first: the same weights, and exp cannot overflow.
ByHand attend(bool causal) {
  ByHand out;
  for (int t = 0; t < T; t++) {
    const int seen = causal ? t + 1 : T;
    Scalar total = 0;
    for (int s = 0; s < seen; s++) {
      for (int i = 0; i < d_h; i++) out.scores[t][s] += asks[t][i] * offers[s][i];
      out.scores[t][s] /= std::sqrt(Scalar(d_h));
      total += maths::exp(out.scores[t][s]);
    }
    for (int s = 0; s < seen; s++) {
      out.pattern[t][s] = maths::exp(out.scores[t][s]) / total;
      for (int i = 0; i < d_v; i++) out.z[t][i] += out.pattern[t][s] * gives[s][i];
    }
  }
  return out;
}

// One line per query: its scores (those it may see), its weights, its mixture.
void print_by_hand(const ByHand& hand, bool causal) {
  for (int t = 0; t < T; t++) {
    std::string scores, weights, z;
    for (int s = 0; s < T; s++) {
      scores += padded(causal && s > t ? "-" : number(hand.scores[t][s], 0), 4);
      weights += padded(number(hand.pattern[t][s], 3), 7);
    }
    for (int i = 0; i < d_v; i++) z += padded(number(hand.z[t][i], 2), 7);
    std::printf("  t%d  scores%s   weights%s   z%s\n", t, scores.c_str(), weights.c_str(), z.c_str());
  }
}

template <int columns>
Tensor tensor(const Scalar (&rows)[T][columns]) {
  return Tensor::from({1, 1, T, columns}, {&rows[0][0], size_t(T * columns)});  // [B, h, T, columns]
}

// Random q and k of mean 0 and variance 1: how large are the scores, and the largest of eight weights?
void print_scale(int width) {
  const int queries = 2000, keys = 8;
  const Scalar bound = std::sqrt(Scalar(3));  // U(-b, b) has variance b^2 / 3
  Random random(4);
  const Tensor one = Tensor::uniform({queries, 1, width}, -bound, bound, random);      // [B, 1, d_h]
  const Tensor many = Tensor::uniform({queries, keys, width}, -bound, bound, random);  // [B, S, d_h]
  const Tensor raw = matmul(one, transpose(many));                                     // [B, 1, S]
  std::string cells;
  for (const Tensor& scores : {raw, scale(raw, 1 / std::sqrt(Scalar(width)))}) {
    const Tensor weights = softmax(scores);  // [B, 1, S]
    double largest = 0;
    for (int b = 0; b < queries; b++) {
      const Scalar* row = weights.data() + b * keys;
      largest += double(*std::max_element(row, row + keys)) / queries;
    }
    cells += padded(number(double(mean(scores * scores).item()), 2), 11) + padded(number(largest, 3), 9);
  }
  std::printf("  %4d%s\n", width, cells.c_str());
}

// The rule "say the token seen most often so far": how often is that the previous token?
double commonest_so_far(const ReaderTask& task) {
  Random random(5);
  const int lines = 10000;
  const std::vector<int> tokens = task.draw(task, lines, random).tokens;
  int right = 0;
  for (int b = 0; b < lines; b++) {
    std::vector<int> seen(size_t(task.vocab_size));
    for (int t = 0; t + 1 < task.length; t++) {
      const int previous = tokens[size_t(b * task.length + t)];
      seen[size_t(previous)]++;
      right += std::max_element(seen.begin(), seen.end()) - seen.begin() == previous;
    }
  }
  return double(right) / (lines * (task.length - 1));
}

// What the model says at the last place of a line.
Tensor last_logits(const ReaderModel& model, const std::vector<int>& tokens) {
  const NoGrad no_grad;
  return slice(model.forward(tokens).logits, 1, model.task.length - 1, model.task.length);  // [1, 1, 1, V]
}

int answer(const ReaderModel& model, const std::vector<int>& tokens) {
  const Tensor logits = last_logits(model, tokens);  // [1, 1, 1, V]
  return int(std::max_element(logits.data(), logits.data() + logits.size()) - logits.data());
}

// One line of the look-up task, and where its last token looks.
void print_lookup(const ReaderModel& model) {
  Random random(6);
  const ReaderBatch line = model.task.draw(model.task, 1, random);
  const Tensor pattern = model.forward(line.tokens).pattern;  // [1, 1, T, T]
  const int values = model.task.answer_size, last = model.task.length - 1;
  std::string tokens, weights;
  for (int s = 0; s <= last; s++) {
    const int token = line.tokens[size_t(s)], key = token / values;
    tokens += padded(s < last ? text("k", key, "=v", token % values) : text("k", token % values, "=?"), 8);
    weights += padded(number(pattern.at({0, 0, last, s}), 3), 8);
  }
  std::printf("  a line  %s     answer: v%d\n  weights %s\n", tokens.c_str(), line.targets.back(),
              weights.c_str());
}

const Setting seed_setting = {"SEED", 0, 0, 1000000}, steps_setting = {"STEPS", 200, 1, 100000};

void lesson() {
  const int first_seed = seed_setting.value(), steps = steps_setting.value();

  step("one head by hand: three tokens, scores, softmax, mix");
  const ByHand hand = attend(false);
  print_by_hand(hand, false);
  const Tensor q = tensor(asks), k = tensor(offers), v = tensor(gives);              // [1, 1, T, d_h or d_v]
  const Tensor scores = scale(matmul(q, transpose(k)), 1 / std::sqrt(Scalar(d_h)));  // [1, 1, T, T]
  const Tensor pattern = softmax(scores);                                            // [1, 1, T, T]
  const Tensor z = matmul(pattern, v);                                               // [1, 1, T, d_v]
  expect_same_bits("scores, loops and matmul", tensor(hand.scores), scores);
  expect_close("weights, loops and softmax", tensor(hand.pattern), pattern, 1e-6);
  expect_close("z, loops and matmul", tensor(hand.z), z, 1e-5);
  expect_same_bits("z, the three ops and attention()", z, attention(q, k, v).z);

  step("the causal mask: a token may look back, and at itself");
  const ByHand causal = attend(true);
  print_by_hand(causal, true);
  const Tensor masked = softmax(scores, Allow::causal(T, T, 0));  // [1, 1, T, T]
  expect_close("weights, loops and one line with Allow::causal", tensor(causal.pattern), masked, 1e-6);
  expect_same_bits("and attention() with is_causal", masked, attention(q, k, v, {.is_causal = true}).pattern);

  step("why sqrt(d_h): 2000 random queries, 8 random keys each");
  std::printf("              raw q.k           q.k / sqrt(d_h)\n");
  std::printf("   d_h   variance  largest   variance  largest\n");
  for (int width : {4, 16, 64, 256}) print_scale(width);
  std::printf(
      "  An even look at 8 keys is 0.125 each. Raw, a wide head has all but chosen one key by chance.\n");

  step("trained: the token one step back, and looking up a key, each without places and with them");
  const ReaderTask back = kback(1), lookup = recall(4, 6, 6);
  std::vector<ReaderModel> back_models, lookup_models;  // without and with places, seed after seed
  std::vector<std::vector<double>> scored;
  for (int seed = first_seed; seed < first_seed + 5; seed++) {
    std::vector<double> row;
    for (bool places : {false, true}) {
      back_models.push_back(train_reader(back, {.positions = places}, seed, steps));
      row.push_back(score(back_models.back()).accuracy);
    }
    for (bool places : {false, true}) {
      lookup_models.push_back(train_reader(lookup, {.embed_dim = 64, .positions = places}, seed, steps));
      row.push_back(score(lookup_models.back()).accuracy);
    }
    scored.push_back(row);
  }
  over_seeds(first_seed, int(scored.size()), {"back: no places", "places", "look-up: no places", "places"},
             [&](int seed) { return scored[size_t(seed - first_seed)]; });
  const std::string rule = number(commonest_so_far(back), 3);
  std::printf("  one step back by the rule \"say the token seen most often so far\": %s\n", rule.c_str());

  step("what bounds it: a set has no order. The same eleven tokens, shuffled, and the same last one");
  const ReaderModel &no_places = back_models[0], &places = back_models[1];
  const std::vector<int> line = {5, 2, 5, 4, 1, 5, 7, 0, 5, 2, 3, 6};
  const std::vector<int> shuffled = {5, 3, 5, 7, 2, 5, 0, 4, 5, 2, 1, 6};
  for (const std::vector<int>& tokens : {line, shuffled}) {
    std::string words;
    for (int token : tokens) words += text(" ", token);
    std::printf("  after%s   no places says %d, places says %d\n", words.c_str(), answer(no_places, tokens),
                answer(places, tokens));
  }
  expect_close("no places, all logits of both lines", last_logits(no_places, line),
               last_logits(no_places, shuffled), 1e-4);

  step("where the reader of one step back looks, on average over 200 lines");
  std::vector<std::string> labels;
  for (int t = 0; t < back.length; t++) labels.push_back(text("t", t));
  std::vector<Panel> maps;
  for (const ReaderModel& model : {no_places, places}) {
    const Tensor looks = reshape(mean_pattern(model), {back.length, back.length});  // [T, T]
    maps.push_back({model.options.positions ? "places" : "no places", looks, labels, labels});
  }
  std::printf("%s", heat_grids(maps).c_str());
  const std::string picture = output_file("04-attention", "one-step-back.png");
  write_heat_maps(picture, text("where one head looks, seed ", first_seed), {maps});
  std::printf("  picture: %s\n", picture.c_str());

  step("why looking up needs no places: the key itself says where to look");
  print_lookup(lookup_models[0]);
}

}  // namespace

int main() { return run_lesson(lesson, {seed_setting, steps_setting}); }

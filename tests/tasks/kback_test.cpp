// The k-back task: its data, the ceiling of an even mixture, its model and training.
#include "tasks/reader.h"

#include <cmath>

#include "catch.h"

using namespace headway;

namespace {

ReaderBatch draw(const ReaderTask& task, int batch, uint64_t seed) {
  Random random(seed);
  return task.draw(task, batch, random);
}

std::vector<Scalar> all_numbers(const ReaderModel& model) {
  std::vector<Scalar> out;
  for (const Tensor& t : tensors(model.parameters())) {
    out.insert(out.end(), t.values().begin(), t.values().end());
  }
  return out;
}

}  // namespace

TEST_CASE("the targets of k-back are the tokens 1 .. k steps back, and -100 where there are none") {
  const ReaderTask task = kback(2, 6, 8);
  const ReaderBatch batch = draw(task, 2, 1);
  CHECK(batch.tokens == std::vector<int>{4, 5, 7, 3, 3, 6, 7, 4, 2, 6, 3, 4});
  CHECK(batch.targets == std::vector<int>{-100, -100, -100, -100, 5, 4, 7, 5, 3, 7, 3, 3,  //
                                          -100, -100, -100, -100, 4, 7, 2, 4, 6, 2, 3, 6});
  for (int k : {1, 3, 4}) {
    const ReaderTask longer = kback(k, 12, 8);
    const ReaderBatch b = draw(longer, 3, 2);
    REQUIRE(b.tokens.size() == 3 * 12);
    REQUIRE(b.targets.size() == size_t(3 * 12 * k));
    for (int i = 0; i < 3 * 12; i++) {
      for (int j = 0; j < k; j++) {
        const int target = b.targets[size_t(i * k + j)];
        CHECK(target == (i % 12 < k ? no_answer : b.tokens[size_t(i - 1 - j)]));
      }
    }
  }
}

TEST_CASE("every token of the vocabulary is drawn about equally often") {
  const ReaderBatch batch = draw(kback(2, 12, 8), 1000, 3);
  std::vector<int> times(8, 0);
  for (int token : batch.tokens) times.at(size_t(token))++;
  for (int n : times) CHECK(std::abs(n - 1500) < 150);
}

TEST_CASE("one seed gives one batch, two seeds give two") {
  const ReaderTask task = kback(2);
  CHECK(draw(task, 8, 5).tokens == draw(task, 8, 5).tokens);
  CHECK(draw(task, 8, 5).tokens != draw(task, 8, 6).tokens);
  Random random(5);
  const std::vector<int> first = task.draw(task, 8, random).tokens;
  CHECK(task.draw(task, 8, random).tokens != first);
}

TEST_CASE("an even mixture of the last two tokens answers 1/8 + 7/8 * 1/2 of the questions") {
  // The logits count each token once, so the reader knows both and not their order: where they differ, one of
  // two answers is right, at ln 2 nats each; where they are equal, both are.
  const ReaderTask task = kback(2, 12, 8);
  const ReaderBatch batch = draw(task, 1000, 4);
  std::vector<Scalar> logits;
  int equal = 0, different = 0;
  for (size_t i = 0; i < batch.tokens.size(); i++) {
    std::vector<Scalar> row(8, Scalar(0));
    if (i % 12 >= 2) {
      const int one = batch.tokens[i - 1], two = batch.tokens[i - 2];
      row[size_t(one)] += 50, row[size_t(two)] += 50;
      (one == two ? equal : different)++;
    }
    for (int j = 0; j < 2; j++) logits.insert(logits.end(), row.begin(), row.end());
  }
  const Tensor mixture = Tensor::from({1000, 12, 2, 8}, logits);
  const double asked = 2.0 * (equal + different);
  CHECK(equal + different == 1000 * 10);
  CHECK(accuracy(mixture, batch.targets) == Approx((2 * equal + different) / asked));
  CHECK(accuracy(mixture, batch.targets) == Approx(0.5625).margin(0.01));
  const double loss = double(cross_entropy(mixture, batch.targets).item());
  CHECK(loss == Approx(std::log(2.0) * 2 * different / asked));
  CHECK(loss == Approx(0.607).margin(0.01));  // 7/8 ln 2
}

TEST_CASE("the model has the parameters its options name") {
  const auto names = [](const ReaderOptions& options) {
    Random random(1);
    std::string all;
    for (const Parameter& p : ReaderModel(kback(2), options, random).parameters()) all += p.name + " ";
    return all;
  };
  CHECK(names({}) == "tok.weight pos.weight attn.q_proj.weight attn.k_proj.weight attn.v_proj.weight "
                     "attn.out_proj.weight readers.weight readers.bias ");
  CHECK(names({.positions = false, .project = false, .mix = false, .mlp_dim = 4}) ==
        "tok.weight mlp.linear1.weight mlp.linear1.bias mlp.linear2.weight mlp.linear2.bias readers.weight "
        "readers.bias ");
  CHECK(names({.project = false}) ==
        "tok.weight pos.weight attn.out_proj.weight readers.weight readers.bias ");
  CHECK(names({.mix = false}) == "tok.weight pos.weight attn.q_proj.weight attn.k_proj.weight "
                                 "attn.v_proj.weight readers.weight readers.bias ");
}

TEST_CASE("logits are one row per answer, and no answer sees a later token") {
  Random random(2);
  const ReaderModel model(kback(3, 5, 7), {.num_heads = 2, .embed_dim = 8}, random);
  std::vector<int> tokens = {1, 2, 3, 4, 5, 6, 5, 4, 3, 2};
  const ReaderModel::Output before = model.forward(tokens);
  CHECK(before.logits.shape() == Shape{2, 5, 3, 7});
  CHECK(before.pattern.shape() == Shape{2, 2, 5, 5});
  tokens[4] = 0;  // the last of the first sequence
  const Tensor after = model.forward(tokens).logits;
  for (int64_t i = 0; i < after.size(); i++) {
    const bool last = i / 21 == 4;
    if (!last) REQUIRE(after.values()[size_t(i)] == before.logits.values()[size_t(i)]);
  }
  CHECK(after.at({0, 4, 0, 0}) != before.logits.at({0, 4, 0, 0}));
  const Tensor silent = model.forward(tokens, Tensor::zeros({2})).logits;  // nothing but the readers' bias
  CHECK(double(silent.at({1, 3, 2, 6})) == Approx(double(model.readers.bias.at({20}))));
}

TEST_CASE("five steps of training twice give the same bits, and another seed gives others") {
  const ReaderTask task = kback(2);
  const std::vector<Scalar> once = all_numbers(train_reader(task, {.num_heads = 2}, 1, 5));
  CHECK((all_numbers(train_reader(task, {.num_heads = 2}, 1, 5)) == once));
  CHECK_FALSE((all_numbers(train_reader(task, {.num_heads = 2}, 2, 5)) == once));
  CHECK_FALSE((all_numbers(train_reader(task, {.num_heads = 2}, 1, 6)) == once));
}

TEST_CASE("training lowers the loss, and scores say what was learnt") {
  const ReaderTask task = kback(1);
  const ReaderScore before = score(train_reader(task, {}, 1, 0)),
                    after = score(train_reader(task, {}, 1, 60));
  CHECK(before.loss > 1.5);
  CHECK(after.loss < before.loss / 2);
  CHECK(after.accuracy > 0.5);
  CHECK(after.accuracy == after.per_answer.at(0));

  const ReaderModel model = train_reader(kback(2), {.num_heads = 2}, 1, 5);
  const ReaderScore both = score(model);
  REQUIRE(both.per_answer.size() == 2);
  CHECK((both.per_answer[0] + both.per_answer[1]) / 2 == Approx(both.accuracy));
  const Tensor pattern = mean_pattern(model);
  CHECK(pattern.shape() == Shape{2, 12, 12});
  for (int64_t i = 0; i < 2; i++) {
    for (int64_t t = 0; t < 12; t++) {
      double total = 0;
      for (int64_t s = 0; s < 12; s++) {
        total += double(pattern.at({i, t, s}));
        if (s > t) CHECK(pattern.at({i, t, s}) == 0);
      }
      CHECK(total == Approx(1).epsilon(1e-5));
    }
  }
}

TEST_CASE("a task in which nothing could be asked is refused") {
  CHECK(message_of<ValueError>([] { kback(12); }) ==
        "kback: k 12 in lines of 12 tokens out of 8\n"
        "  rule: k is from 1 to length - 1: at the first k places nothing is asked");
  CHECK_THROWS_AS(kback(0), ValueError);
  CHECK(message_of<ValueError>([] { recall(9, 8, 8); }) ==
        "recall: 9 pairs out of 8 keys and 8 values\n"
        "  rule: every pair has a key of its own: pairs is from 1 to keys");
}

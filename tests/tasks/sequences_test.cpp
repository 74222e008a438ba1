// The lines of copy, reverse, sort and noise, and the look-up task.
#include <algorithm>

#include "catch.h"
#include "tasks/reader.h"
#include "tasks/sequences.h"

using namespace headway;

namespace {

using Words = std::vector<int>;

// The first and the second half of line b: what stands before the mark, and the targets behind it.
Words first_half(const Lines& lines, int b) {
  const auto line = lines.tokens.begin() + b * line_length;
  return Words(line, line + line_words);
}
Words second_half(const Lines& lines, int b) {
  const auto line = lines.targets.begin() + b * line_length;
  return Words(line + line_words, line + line_length);
}

}  // namespace

TEST_CASE("the second half of a line is the copy, the reverse or the sorted first half") {
  Random one(5), two(5), three(5);
  const Lines copied = copy_lines(20, one), reversed = reverse_lines(20, two), sorted = sort_lines(20, three);
  for (int b = 0; b < 20; b++) {
    Words words = first_half(copied, b);
    CHECK(second_half(copied, b) == words);
    CHECK(first_half(reversed, b) == words);  // the same seed draws the same words
    std::reverse(words.begin(), words.end());
    CHECK(second_half(reversed, b) == words);
    std::sort(words.begin(), words.end());
    CHECK(second_half(sorted, b) == words);
  }
}

TEST_CASE("the target at a place is the token at the next one, once and only once shifted") {
  Random random(6);
  const Lines lines = sort_lines(7, random);
  CHECK(lines.tokens.size() == 7 * 12);
  CHECK(lines.targets.size() == 7 * 12);
  for (int b = 0; b < 7; b++) {
    CHECK(lines.tokens[size_t(b * 12 + line_words)] == line_mark);
    for (int t = 0; t < 12; t++) {
      const int target = lines.targets[size_t(b * 12 + t)];
      if (t < line_words)
        CHECK(target == -100);  // random words cannot be foretold
      else if (t < 11)
        CHECK(target == lines.tokens[size_t(b * 12 + t + 1)]);
    }
  }
  const Lines noise = noise_lines(7, random);
  for (int b = 0; b < 7; b++) {
    for (int t = 0; t < 11; t++)
      CHECK(noise.targets[size_t(b * 12 + t)] == noise.tokens[size_t(b * 12 + t + 1)]);
  }
}

TEST_CASE("in look-up the keys of a list differ, and the answer is the value of the key that is asked") {
  const ReaderTask task = recall(4, 6, 5);  // pairs, keys, values
  CHECK(task.vocab_size == 6 * 5 + 6);
  CHECK(task.length == 5);
  Random random(7);
  const ReaderBatch batch = task.draw(task, 200, random);
  int asked_at[4] = {};
  for (size_t b = 0; b < 200; b++) {
    const int key = batch.tokens[b * 5 + 4] - 30;
    int found = 0;
    for (size_t t = 0; t < 4; t++) {
      CHECK(batch.targets[b * 5 + t] == no_answer);
      const int token = batch.tokens[b * 5 + t];
      if (token / 5 != key) continue;
      found++;
      asked_at[t]++;
      CHECK(batch.targets[b * 5 + 4] == token % 5);
    }
    CHECK(found == 1);
  }
  for (int count : asked_at) CHECK(count > 25);  // 50 expected: every place is asked for
}

TEST_CASE("an untrained model scores near chance, alone and while reading") {
  Random random(9);
  const Transformer model = line_model(1, random);
  const LineScore score = score_lines(model, copy_lines);
  CHECK(score.loss > 2);
  CHECK(score.accuracy < 0.25);
  CHECK(score.generated_accuracy < 0.25);
  CHECK(score_lines(model, noise_lines).generated_accuracy == 0);
}

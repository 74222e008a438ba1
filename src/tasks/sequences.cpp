#include "tasks/sequences.h"

#include <algorithm>

#include "nn/generate.h"

namespace headway {

namespace {

// Lines whose second half is `answer` of the first.
Lines lines(int batch, Random& random, void (*answer)(std::vector<int>& words)) {
  Lines out;
  for (int b = 0; b < batch; b++) {
    std::vector<int> line;
    for (int i = 0; i < line_words; i++) line.push_back(random.below(line_symbols));
    std::vector<int> second = line;
    answer(second);
    line.push_back(line_mark);
    line.insert(line.end(), second.begin(), second.end());
    out.tokens.insert(out.tokens.end(), line.begin(), line.end() - 1);
    for (int t = 0; t < line_length; t++) out.targets.push_back(t < line_words ? -100 : line[size_t(t) + 1]);
  }
  return out;
}

}  // namespace

Lines copy_lines(int batch, Random& random) {
  return lines(batch, random, [](std::vector<int>&) {});
}

Lines reverse_lines(int batch, Random& random) {
  return lines(batch, random, [](std::vector<int>& words) { std::reverse(words.begin(), words.end()); });
}

Lines sort_lines(int batch, Random& random) {
  return lines(batch, random, [](std::vector<int>& words) { std::sort(words.begin(), words.end()); });
}

Lines noise_lines(int batch, Random& random) {
  Lines out;
  for (int b = 0; b < batch; b++) {
    int next = random.below(line_symbols);
    for (int t = 0; t < line_length; t++) {
      out.tokens.push_back(next);
      next = random.below(line_symbols);
      out.targets.push_back(next);
    }
  }
  return out;
}

Transformer line_model(int num_layers, Random& random) {
  return Transformer({.vocab_size = line_symbols + 1,
                      .context = line_length,
                      .num_layers = num_layers,
                      .block = {.embed_dim = 32, .num_heads = 4, .mlp_dim = 128}},
                     random);
}

Scalar train_lines(const Transformer& model, DrawLines draw, int steps, Random& data) {
  return fit(model.parameters(), {.steps = steps}, [&](int) {
    const int batch = 64;
    const Lines drawn = draw(batch, data);
    return cross_entropy(model(drawn.tokens, batch, line_length), drawn.targets);  // []
  });
}

LineScore score_lines(const Transformer& model, DrawLines draw) {
  const NoGrad no_grad;
  const int batch = 500;
  Random data(1000003);
  const Lines fresh = draw(batch, data);
  const Tensor logits = model(fresh.tokens, batch, line_length);  // [B, T, V]
  LineScore score = {double(cross_entropy(logits, fresh.targets).item()), accuracy(logits, fresh.targets), 0};
  if (fresh.tokens[line_words] != line_mark) return score;  // noise has no second half

  std::vector<int> prompts;
  for (int b = 0; b < batch; b++) {
    const auto line = fresh.tokens.begin() + b * line_length;
    prompts.insert(prompts.end(), line, line + line_words + 1);
  }
  // No cache: with the wrong merge of lesson 08 the whole line matters, and a cache would hide that.
  const std::vector<int> answers = generate(model, prompts, batch, line_words, false);
  int right = 0;
  for (int i = 0; i < batch * line_words; i++) {
    right += answers[size_t(i)] ==
             fresh.targets[size_t(i / line_words * line_length + line_words + i % line_words)];
  }
  score.generated_accuracy = double(right) / (batch * line_words);
  return score;
}

}  // namespace headway

#include "tasks/reader.h"

#include <utility>

namespace headway {

namespace {

constexpr uint64_t fresh_data_seed = 1000003;  // of the data that nothing is trained on

ReaderBatch draw_kback(const ReaderTask& task, int batch, Random& random) {
  ReaderBatch out;
  for (int b = 0; b < batch; b++) {
    for (int t = 0; t < task.length; t++) {
      out.tokens.push_back(random.below(task.vocab_size));
      for (int j = 1; j <= task.answers; j++) {
        out.targets.push_back(t < task.answers ? no_answer : *(out.tokens.end() - 1 - j));
      }
    }
  }
  return out;
}

ReaderBatch draw_recall(const ReaderTask& task, int batch, Random& random) {
  const int values = task.answer_size, keys = task.vocab_size / (values + 1), pairs = task.length - 1;
  ReaderBatch out;
  for (int b = 0; b < batch; b++) {
    std::vector<int> order;  // the keys, the first `pairs` of them shuffled (Fisher and Yates)
    for (int key = 0; key < keys; key++) order.push_back(key);
    for (int i = 0; i < pairs; i++) std::swap(order[size_t(i)], order[size_t(i + random.below(keys - i))]);
    const int asked = random.below(pairs);
    int answer = 0;
    for (int i = 0; i < pairs; i++) {
      const int value = random.below(values);
      if (i == asked) answer = value;
      out.tokens.push_back(order[size_t(i)] * values + value);
      out.targets.push_back(no_answer);
    }
    out.tokens.push_back(keys * values + order[size_t(asked)]);
    out.targets.push_back(answer);
  }
  return out;
}

}  // namespace

ReaderTask kback(int k, int length, int vocab_size) {
  if (k < 1 || k >= length || vocab_size < 1) {
    throw ValueError(Message(text("kback: k ", k, " in lines of ", length, " tokens out of ", vocab_size))
                         .rule("k is from 1 to length - 1: at the first k places nothing is asked"));
  }
  return {draw_kback, vocab_size, length, k, vocab_size};
}

ReaderTask recall(int pairs, int keys, int values) {
  if (pairs < 1 || pairs > keys || values < 1) {
    throw ValueError(Message(text("recall: ", pairs, " pairs out of ", keys, " keys and ", values, " values"))
                         .rule("every pair has a key of its own: pairs is from 1 to keys"));
  }
  return {draw_recall, keys * values + keys, pairs + 1, 1, values};
}

ReaderModel::ReaderModel(const ReaderTask& t, const ReaderOptions& o, Random& random)
    : task(t), options(o), tok(t.vocab_size, o.embed_dim, random), pos(t.length, o.embed_dim, random),
      attn({.embed_dim = o.embed_dim, .num_heads = o.num_heads, .bias = false}, random),
      readers(o.embed_dim, t.answers * t.answer_size, true, random) {
  if (o.mlp_dim > 0) mlp.emplace(o.embed_dim, o.mlp_dim, Activation::relu, random);
  name_tensors(parameters());
}

ReaderModel::Output ReaderModel::forward(const std::vector<int>& tokens, const Tensor& gate) const {
  const int64_t T = task.length, B = int64_t(tokens.size()) / T, h = options.num_heads;
  Tensor x = tok(tokens, {B, T});             // [B, T, D]
  if (options.positions) x = x + pos.weight;  // [B, T, D] + [T, D]

  const auto [q, k, v] = options.project ? attn.project_and_split(x, x)
                                         : Heads{split_heads(x, h), split_heads(x, h), split_heads(x, h)};
  const Attended attended = attention(q, k, v, {.is_causal = true});  // pattern [B, h, T, T]
  const Tensor read = options.mix ? attn.merge_and_project(attended, gate).out
                                  : merge_heads(gate_heads(attended.z, gate));  // [B, T, D]
  const Tensor seen = mlp ? (*mlp)(read) : read;                                // [B, T, D]
  const Tensor logits = readers(seen);                                          // [B, T, answers answer_size]
  return {reshape(logits, {B, T, task.answers, task.answer_size}), attended.pattern};
}

Parameters ReaderModel::parameters() const {
  Parameters p;
  append(p, "tok", tok.parameters());
  if (options.positions) append(p, "pos", pos.parameters());
  Parameters a = attn.parameters();
  if (!options.mix) a.pop_back();                           // out_proj
  if (!options.project) a.erase(a.begin(), a.begin() + 3);  // q_proj, k_proj, v_proj
  append(p, "attn", a);
  if (mlp) append(p, "mlp", mlp->parameters());
  append(p, "readers", readers.parameters());
  return p;
}

ReaderModel train_reader(const ReaderTask& task, const ReaderOptions& options, int seed, int steps) {
  Random random{uint64_t(seed)};
  Random data = random.split(), weights = random.split();
  ReaderModel model(task, options, weights);
  fit(model.parameters(), {.steps = steps}, [&](int) {
    const ReaderBatch batch = task.draw(task, 64, data);
    return cross_entropy(model.forward(batch.tokens).logits, batch.targets);  // []
  });
  return model;
}

ReaderScore score(const ReaderModel& model, const Tensor& gate) {
  const NoGrad no_grad;
  Random data(fresh_data_seed);
  const ReaderBatch batch = model.task.draw(model.task, 1000, data);
  const Tensor logits = model.forward(batch.tokens, gate).logits;  // [B, T, answers, answer_size]
  ReaderScore out = {
      accuracy(logits, batch.targets), {}, double(cross_entropy(logits, batch.targets).item())};
  for (int j = 0; j < model.task.answers; j++) {
    std::vector<int> only = batch.targets;
    for (size_t i = 0; i < only.size(); i++) {
      if (int(i) % model.task.answers != j) only[i] = no_answer;
    }
    out.per_answer.push_back(accuracy(logits, only));
  }
  return out;
}

Tensor mean_pattern(const ReaderModel& model) {
  const NoGrad no_grad;
  Random data(fresh_data_seed);
  const ReaderBatch batch = model.task.draw(model.task, 200, data);
  return mean(model.forward(batch.tokens).pattern, {0});  // [h, T, T]
}

}  // namespace headway

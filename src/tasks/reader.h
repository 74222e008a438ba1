// Tasks in which every answer is read from ONE vector, and the model they train: token + place embedding, one
// attention layer without bias, an MLP if asked for, and a linear reader for each answer.
#pragma once

#include "nn/attention.h"
#include "tasks/fit.h"

namespace headway {

constexpr int no_answer = -100;  // a place where nothing is asked

struct ReaderBatch {
  std::vector<int> tokens;   // [B, T]
  std::vector<int> targets;  // [B, T, answers]
};

struct ReaderTask;
using DrawBatch = ReaderBatch (*)(const ReaderTask& task, int batch, Random& random);

// What is asked. Make one with kback() or recall().
struct ReaderTask {
  DrawBatch draw;
  int vocab_size;   // V
  int length;       // T
  int answers;      // questions asked at one place
  int answer_size;  // possible answers to each
};

// At every place name the tokens 1, 2, .. k steps back; nothing is asked at the first k places.
ReaderTask kback(int k, int length = 12, int vocab_size = 8);

// A list of `pairs` different keys, each with a random value, then one of the keys again: which value did it
// have? A pair is one token, key * values + value; the question behind them is token keys * values + key.
ReaderTask recall(int pairs = 6, int keys = 8, int values = 8);

struct ReaderOptions {
  int num_heads = 1;      // h
  int embed_dim = 32;     // D
  bool positions = true;  // add a learned row per place
  bool project =
      true;         // q, k and v through their projections; false: each is x itself, merely cut into heads
  bool mix = true;  // the heads pass through out_proj
  int mlp_dim = 0;  // above 0: a hidden layer of so many relu units between the attention and the readers
};

class ReaderModel {
public:
  ReaderModel(const ReaderTask& task, const ReaderOptions& options, Random& random);

  struct Output {
    Tensor logits;   // [B, T, answers, answer_size]
    Tensor pattern;  // [B, h, T, T]
  };
  // `gate` [h] multiplies the output of each head.
  Output forward(const std::vector<int>& tokens, const Tensor& gate = {}) const;
  Parameters parameters() const;

  ReaderTask task;
  ReaderOptions options;
  Embedding tok, pos;
  MultiheadAttention attn;
  std::optional<MLP> mlp;
  Linear readers;  // [D, answers answer_size]
};

// A model trained from `seed`: Adam at rate 3e-3, batches of 64. Weights and data have a random stream each.
ReaderModel train_reader(const ReaderTask& task, const ReaderOptions& options, int seed, int steps);

struct ReaderScore {
  double accuracy;                 // over all answers
  std::vector<double> per_answer;  // one accuracy for each question
  double loss;                     // mean cross entropy in nats
};

// On 1,000 fresh sequences, the same ones for every model of a task.
ReaderScore score(const ReaderModel& model, const Tensor& gate = {});

// What each head looks at, averaged over 200 fresh sequences: [h, T, T].
Tensor mean_pattern(const ReaderModel& model);

}  // namespace headway

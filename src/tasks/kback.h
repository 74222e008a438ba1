// The k-back task: at every position, name the tokens 1, 2, .. k steps back. All k answers are read from ONE
// vector by k linear readers, so what one head averages together stays together.
#pragma once

#include "nn/attention.h"
#include "tasks/fit.h"

namespace headway {

struct KBackOptions {
  int k = 2;              // answers per position
  int num_heads = 1;      // h
  int embed_dim = 32;     // D
  int length = 12;        // T
  int vocab_size = 8;     // V
  int batch = 64;         // B
  bool positions = true;  // add a learned row per place
  bool project = true;    // q, k, v through their projections; false: each is x itself, merely cut into heads
  bool mix = true;        // the heads pass through out_proj
  int mlp_dim = 0;        // above 0: a hidden layer of that many relu units between attention and the readers
};

struct KBackBatch {
  std::vector<int> tokens;   // [B, T]
  std::vector<int> targets;  // [B, T, k]; -100 at the first k places, which have no k tokens before them
};

KBackBatch kback_batch(const KBackOptions& options, Random& random);

// Token + place embedding, one causal attention layer without bias, k linear readers.
class KBackModel {
public:
  KBackModel(const KBackOptions& options, Random& random);

  struct Output {
    Tensor logits;   // [B, T, k, V]
    Tensor pattern;  // [B, h, T, T]
  };
  // `gate` [h] multiplies the output of each head.
  Output forward(const std::vector<int>& tokens, const Tensor& gate = {}) const;
  Parameters parameters() const;

  KBackOptions options;
  Embedding tok, pos;
  MultiheadAttention attn;
  std::optional<MLP> mlp;
  Linear readers;  // [D, k V]
};

// Trains a fresh model from `seed`: weights and data each have a stream of their own.
KBackModel train_kback(const KBackOptions& options, int seed, int steps);

struct KBackScore {
  double accuracy;                 // over all k answers
  std::vector<double> per_answer;  // answer j: the token j+1 steps back
  double loss;                     // mean cross entropy, in nats
};

// On 1,000 fresh sequences, the same for every model of these options.
KBackScore score_kback(const KBackModel& model, const Tensor& gate = {});

// The pattern of each head, averaged over fresh sequences: [h, T, T].
Tensor mean_pattern(const KBackModel& model);

}  // namespace headway

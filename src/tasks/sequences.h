// Sequence tasks for a causal transformer. A line is 6 random tokens, a mark, and 6 more: their copy, their
// reverse, or themselves sorted. `noise` has no rule at all: no model can predict it better than chance, ln 8
// = 2.079 nats.
#pragma once

#include "nn/transformer.h"
#include "tasks/fit.h"

namespace headway {

constexpr int line_words = 6;            // tokens before the mark, and behind it
constexpr int line_symbols = 8;          // ordinary tokens 0 .. 7
constexpr int line_mark = line_symbols;  // the token between the halves
constexpr int line_length =
    2 * line_words;  // T: what the model reads; the last token of a line is only a target

struct Lines {
  std::vector<int> tokens;   // [B, T]
  std::vector<int> targets;  // [B, T]: the next token; -100 where it cannot be known
};

// Each draws B lines.
using DrawLines = Lines (*)(int batch, Random& random);
Lines copy_lines(int batch, Random& random);
Lines reverse_lines(int batch, Random& random);
Lines sort_lines(int batch, Random& random);
Lines noise_lines(int batch, Random& random);

// A fresh causal pre-norm transformer for these tasks: D = 32, h = 4, an MLP of 4 D.
Transformer line_model(int num_layers, Random& random);

// Trains it with Adam at rate 3e-3 on batches of 64 drawn from `data`. Returns the last loss.
Scalar train_lines(const Transformer& model, DrawLines draw, int steps, Random& data);

// Both on the same 500 fresh lines: reading, where the right answers so far are given, and going on alone
// from the mark, each token fed back, while the line grows from 7 tokens to 12.
struct LineScore {
  double loss;                // mean cross entropy in nats
  double accuracy;            // reading
  double generated_accuracy;  // alone; 0 for noise
};
LineScore score_lines(const Transformer& model, DrawLines draw);

}  // namespace headway

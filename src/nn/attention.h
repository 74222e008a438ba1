// Multi-head attention: split, attend, merge, project.
//   Vaswani et al. 2017: head_i = softmax(q_i k_i^T / sqrt(d_h)) v_i,   out = concat(head_1 .. head_h) W_O
#pragma once

#include <optional>

#include "nn/masking.h"
#include "nn/module.h"

namespace headway {

// x [B, T, D] -> [B, h, T, d_h]: each token's D numbers are cut into h pieces, then heads come before tokens.
// ShapeError unless num_heads divides D.
Tensor split_heads(const Tensor& x, int64_t num_heads);

// z [B, h, T, d_h] -> [B, T, h d_h]: the way back. merge_heads(split_heads(x, h)) is x.
Tensor merge_heads(const Tensor& z);

struct Attended {
  Tensor scores;   // [B, h, T, S]  q k^T times the scale, before any mask
  Tensor pattern;  // [B, h, T, S]  each row sums to 1, or is 0 where nothing is allowed
  Tensor z;        // [B, h, T, d_v]
};

// q [B, h, T, d_h], k [B, h, S, d_h], v [B, h, S, d_v]; d_v may differ from d_h. scale: 1/sqrt(d_h) unless
// given.
Attended attention(const Tensor& q, const Tensor& k, const Tensor& v, const Masking& masking = {},
                   std::optional<Scalar> scale = {});

// What each head hands on, times its own number: gate [h], also called a head mask. 0 removes a head; the
// gradient of a gate says how much the loss leans on its head. An undefined gate leaves z [B, h, T, d_h] as
// it is.
Tensor gate_heads(const Tensor& z, const Tensor& gate);

class KVCache;

struct Heads {
  Tensor q, k, v;  // [B, h, T, d_h], [B, h, S, d_h], [B, h, S, d_h]
};

class MultiheadAttention {
public:
  struct Options {
    int64_t embed_dim = 0;  // D
    int64_t num_heads = 1;  // h
    int64_t head_dim = 0;   // d_h; 0: D / h, which must then be whole. h d_h need not be D: W_O is [h d_h, D]
    bool bias = true;
  };
  struct Output {
    Tensor out;      // [B, T, D]
    Tensor pattern;  // [B, h, T, S], head by head, never averaged
    Tensor z;        // [B, h, T, d_h], what each head hands to out_proj (after its gate)
  };

  MultiheadAttention(const Options& options, Random& random);

  // Keys and values come from `memory` [B, S, D] where given (cross attention), else from x [B, T, D].
  // `gate`: as in gate_heads.
  Output forward(const Tensor& x, const Masking& masking = {}, const Tensor& memory = {},
                 const Tensor& gate = {}) const;
  // Decoding, see cache.h: x [B, T, D] is what follows the tokens in the cache; its keys and values join
  // them. Always causal, and over its own past only, so there is neither a mask nor a memory to give.
  Output append_and_forward(const Tensor& x, KVCache& cache) const;
  Tensor operator()(const Tensor& x, const Masking& masking = {}) const { return forward(x, masking).out; }
  Parameters parameters() const;

  // The two halves of forward, around attention.
  Heads project_and_split(const Tensor& x, const Tensor& source) const;
  Output merge_and_project(const Attended& attended, const Tensor& gate = {}) const;

  const int64_t num_heads, head_dim;  // h, d_h
  // How heads are cut and put together. Lessons put wrong ones here, to show what then happens.
  Tensor (*split)(const Tensor& x, int64_t num_heads) = split_heads;
  Tensor (*merge)(const Tensor& z) = merge_heads;
  Linear q_proj, k_proj, v_proj;  // [D, h d_h]
  Linear out_proj;                // [h d_h, D]
};

}  // namespace headway

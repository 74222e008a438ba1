// The keys and values of the tokens so far, kept for one attention layer. In a causal model no later token
// changes them, so a new token costs its own q, k and v, and one look at the rest.
//
//   const NoGrad no_grad;
//   std::vector<KVCache> caches = model.make_caches(1);    // one per layer, for one item
//   Tensor logits = model({3, 1, 4}, 1, 3, caches);        // [1, 3, V], the prompt
//   logits = model({1}, 1, 1, caches);                     // [1, 1, V], the next token
#pragma once

#include "nn/attention.h"

namespace headway {

class KVCache {
public:
  // Room for `capacity` tokens of each of B items, allocated once.
  KVCache(int64_t B, int64_t num_heads, int64_t capacity, int64_t head_dim);
  KVCache(KVCache&&) = default;  // never copied: two caches must not write into the same numbers
  KVCache& operator=(KVCache&&) = default;

  int64_t length() const { return length_; }  // tokens held: the past of the next query
  int64_t capacity() const { return keys_.dim(3); }
  int64_t bytes() const;  // 2 B h capacity d_h sizeof(Scalar), full or empty

  // k, v [B, h, T, d_h] of the next T tokens. A refused append changes nothing.
  void append(const Tensor& k, const Tensor& v);
  void truncate(int64_t length);  // forgets all tokens but the first `length`
  void clear() { truncate(0); }
  void expect_room(int64_t T) const;  // ShapeError if T more tokens do not fit

  // The whole room; behind length() stands nothing yet. Keys stand transposed, so that q k^T of one query
  // runs along memory, as its weights times the values do.
  const Tensor& keys() const { return keys_; }      // [B, h, d_h, capacity]
  const Tensor& values() const { return values_; }  // [B, h, capacity, d_h]

private:
  Tensor keys_, values_;
  int64_t length_ = 0;
};

// Attention of the next T tokens, q, k, v [B, h, T, d_h]. k and v join the cache first, so query t sees what
// was cached before, and the new keys up to its own. The same bits as over all keys and values at once with
// {.is_causal = true, .past = length before}. It keeps no history: ValueError for tensors with a gradient.
Attended append_and_attend(const Tensor& q, const Tensor& k, const Tensor& v, KVCache& cache);

}  // namespace headway

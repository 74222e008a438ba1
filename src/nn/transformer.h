// A transformer block and a tiny causal language model.
#pragma once

#include "nn/attention.h"
#include "nn/cache.h"

namespace headway {

struct BlockOptions {
  int64_t embed_dim = 0;
  int64_t num_heads = 1;
  int64_t mlp_dim = 0;
  Activation activation = Activation::gelu_tanh;
  bool norm_first =
      true;  // pre-norm: x + f(LN(x)), as in GPT-2; else post-norm: LN(x + f(x)), Vaswani et al. 2017
};

// The residual stream: x, plus what the heads add, plus what the MLP adds.   [B, T, D] -> [B, T, D]
class Block {
public:
  Block(const BlockOptions& options, Random& random);
  // Where `pattern` is given, it receives this block's [B, h, T, S].
  Tensor operator()(const Tensor& x, const Masking& masking, Tensor* pattern = nullptr) const;
  Tensor operator()(const Tensor& x, KVCache& cache) const;  // x follows the tokens in the cache
  Parameters parameters() const;

  MultiheadAttention attn;
  MLP mlp;
  LayerNorm norm1, norm2;
  bool norm_first;
};

// Token + learned position embedding, blocks, a final LayerNorm, and a head that reads logits over the
// vocabulary.
class Transformer {
public:
  struct Options {
    int64_t vocab_size = 0;
    int64_t context = 0;  // rows of the position table: the longest sequence
    int64_t num_layers = 1;
    BlockOptions block = {};
    bool tied = false;  // logits through the token table itself, instead of a matrix of their own
    bool is_causal = true;
  };
  Transformer(const Options& options, Random& random);

  // tokens: B rows of T ids -> logits [B, T, V]. ShapeError if T is above the context. Where `patterns` is
  // given, it receives one [B, h, T, T] per layer.
  Tensor operator()(const std::vector<int>& tokens, int64_t B, int64_t T,
                    std::vector<Tensor>* patterns = nullptr) const;
  // Decoding: the tokens are those that follow the cached ones, B rows of T -> their logits [B, T, V], with
  // the same bits as in the whole sequence. An error leaves every cache as long as it was.
  Tensor operator()(const std::vector<int>& tokens, int64_t B, int64_t T, std::vector<KVCache>& caches) const;
  // An empty cache for each layer. capacity: the context unless given.
  std::vector<KVCache> make_caches(int64_t B, std::optional<int64_t> capacity = {}) const;
  Parameters parameters() const;

  Options options;
  Embedding tok, pos;
  std::vector<Block> blocks;
  LayerNorm norm_f;
  std::optional<Linear> head;  // no bias; absent when tied

private:
  Tensor embed(const std::vector<int>& tokens, int64_t B, int64_t T, int64_t past) const;  // [B, T, D]
  Tensor read_out(const Tensor& x) const;  // [B, T, D] -> logits [B, T, V]
};

}  // namespace headway

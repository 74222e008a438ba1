// Going on from a prompt, greedily.
#pragma once

#include "nn/transformer.h"

namespace headway {

// Appends `count` tokens to each of B prompts of equal length, [B, T] in a row: each time the token with the
// largest logit, the smaller id where two are equal. Returns [B, count]. With a cache the model reads each
// token once; without one it reads the whole line again for every token, and gets the same numbers.
std::vector<int> generate(const Transformer& model, const std::vector<int>& prompts, int64_t B, int64_t count,
                          bool use_cache = true);

}  // namespace headway

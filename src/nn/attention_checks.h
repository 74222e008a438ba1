// What attention refuses, and says, before anything is computed or allocated.
#pragma once

#include "core/tensor.h"

namespace headway {

// ShapeError unless num_heads cuts x [B, T, D] into heads of equal width.
void check_split(const Tensor& x, int64_t num_heads);

// ShapeError, in the name of `op`, unless t is [B, h, T, d_h].
void check_heads(const char* op, const char* role, const Tensor& t);

// ShapeError unless k goes with q, and v with k.
void check_qkv(const Tensor& q, const Tensor& k, const Tensor& v);

// The width of a head, given or embed_dim / num_heads. ShapeError unless the three make a layer.
int64_t check_head_dim(int64_t embed_dim, int64_t num_heads, int64_t head_dim);

}  // namespace headway

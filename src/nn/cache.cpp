#include "nn/cache.h"

#include <algorithm>
#include <cmath>

#include "core/kernels.h"
#include "core/node.h"
#include "core/parallel.h"

namespace headway {

namespace {

struct Role {
  const char* name;
  const Tensor& tensor;
};

// All of them must be [B, h, T, d_h] of the same new tokens, and plain numbers.
void expect_new_tokens(const char* op, const KVCache& cache, std::initializer_list<Role> given) {
  const Shape& room = cache.values().shape();  // [B, h, capacity, d_h]
  const Tensor& first = given.begin()->tensor;
  const Shape shape = {room[0], room[1], first.rank() == 4 ? first.dim(2) : 0, room[3]};
  for (const Role& wrong : given) {
    if (wrong.tensor.shape() == shape) continue;
    Message message(text(op, ": ", wrong.name, " does not fit the cache"));
    for (const Role& role : given) add_tensor(message, role.name, role.tensor);
    throw ShapeError(message.rule(text("they are [B, h, T, d_h] of the same T tokens, here with B = ",
                                       room[0], ", h = ", room[1], ", d_h = ", room[3])));
  }
  for (const Role& role : given) {
    if (!role.tensor.has_node()) continue;
    Message message(text(op, ": ", role.name, " carries a gradient, and a cache keeps no history"));
    add_tensor(message, role.name, role.tensor);
    throw ValueError(message.rule("no backward could pass through numbers that were only kept")
                         .hint("decode inside NoGrad, or hand in a tensor's detach()"));
  }
}

// a [B, h, T, K] times the first K rows and N columns of each matrix of `room`, read where they stand.
Tensor times_room(const Tensor& a, const Tensor& room, int64_t N) {
  const int64_t B = a.dim(0), h = a.dim(1), T = a.dim(2), K = a.dim(3);
  const int64_t row = room.dim(3), matrix = room.dim(2) * row;
  Result y("matmul", {B, h, T, N}, {a}, nullptr);  // [B, h, T, N]
  Scalar* out = y.data();
  const int64_t grain = 1 + 100000 / (1 + T * N * K);  // as in matmul: products worth a thread
  parallel_for(B * h, grain, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; i++) {
      matrix_product(T, N, K, {a.data() + i * T * K, K, 1}, {room.data() + i * matrix, row, 1},
                     out + i * T * N, false);
    }
  });
  return y.done();
}

}  // namespace

KVCache::KVCache(int64_t B, int64_t num_heads, int64_t capacity, int64_t head_dim) {
  if (std::min({B, num_heads, capacity, head_dim}) < 1) {
    throw ShapeError(Message(text("KVCache: B ", B, ", num_heads ", num_heads, ", capacity ", capacity,
                                  " and head_dim ", head_dim, " make no cache"))
                         .rule("each is at least 1"));
  }
  keys_ =
      Tensor::uncleared({B, num_heads, head_dim, capacity}).named("cached keys");  // [B, h, d_h, capacity]
  values_ =
      Tensor::uncleared({B, num_heads, capacity, head_dim}).named("cached values");  // [B, h, capacity, d_h]
}

int64_t KVCache::bytes() const { return (keys_.size() + values_.size()) * int64_t(sizeof(Scalar)); }

void KVCache::expect_room(int64_t T) const {
  const int64_t needed = length_ + T;
  if (needed <= capacity()) return;
  throw ShapeError(
      Message(text("KVCache: behind ", length_, " cached tokens, ", T, " more need room for ", needed,
                   ", and the capacity is ", capacity()))
          .rule("a cache is allocated once and does not grow; no token is dropped to make room")
          .hint(text("make it with capacity ", needed, " or more, or clear() it for a new text")));
}

void KVCache::truncate(int64_t length) {
  if (length < 0 || length > length_) {
    throw ValueError(Message(text("KVCache: it cannot be cut to ", length, " tokens, it holds ", length_))
                         .rule("the first 0 .. length() tokens may be kept"));
  }
  length_ = length;
}

void KVCache::append(const Tensor& k, const Tensor& v) {
  expect_new_tokens("KVCache", *this, {{"k", k}, {"v", v}});
  const int64_t matrices = k.dim(0) * k.dim(1), T = k.dim(2), d_h = k.dim(3), room = capacity();
  expect_room(T);
  Scalar *keys = keys_.mutable_values().data(), *values = values_.mutable_values().data();
  for (int64_t i = 0; i < matrices; i++) {  // item and head
    transpose_matrix(T, d_h, k.data() + i * T * d_h, d_h, keys + i * d_h * room + length_, room, false);
    std::copy_n(v.data() + i * T * d_h, T * d_h, values + (i * room + length_) * d_h);
  }
  length_ += T;
}

Attended append_and_attend(const Tensor& q, const Tensor& k, const Tensor& v, KVCache& cache) {
  expect_new_tokens("append_and_attend", cache, {{"q", q}, {"k", k}, {"v", v}});
  const int64_t T = q.dim(2), d_h = q.dim(3), past = cache.length(), S = past + T;
  cache.append(k, v);

  const Tensor products = times_room(q, cache.keys(), S);             // [B, h, T, S]
  const Tensor scores = scale(products, 1 / std::sqrt(Scalar(d_h)));  // [B, h, T, S]
  // A single query comes last and sees every key: no mask.
  const Tensor pattern = T == 1 ? softmax(scores) : softmax(scores, Allow::causal(T, S, past));
  const Tensor z = times_room(pattern, cache.values(), d_h);  // [B, h, T, d_h]
  return {scores, pattern, z};
}

}  // namespace headway

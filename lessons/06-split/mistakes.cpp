// What people really write for exercise 06-split. The check knows them all, and says which one it was.
#include "course/candidate.h"

using namespace headway;

namespace {

using Split = Tensor (*)(const Tensor& x, int64_t num_heads);

Tensor split_right(const Tensor& x, int64_t h) {
  return permute(reshape(x, {x.dim(0), x.dim(1), h, -1}), {0, 2, 1, 3});  // [B, h, T, d_h]
}

// Columns of the fused row, `which` of three.
Tensor third(const Tensor& qkv, int64_t which) {
  const int64_t E = qkv.dim(2) / 3;
  return slice(qkv, 2, which * E, (which + 1) * E);  // [B, T, E]
}

// project_and_split with a split of its own.
template <Split split>
Tensor project_and(const Tensor& x, const Tensor& W, int64_t num_heads, int64_t which) {
  return split(third(matmul(x, W), which), num_heads);  // [B, h, T, E / h]
}

namespace reshape_alone {
Tensor split(const Tensor& x, int64_t h) {
  return reshape(x, {x.dim(0), h, x.dim(1), -1});  // [B, h, T, d_h] by its shape
}
const Candidate
    candidate("reshape_alone", {{"split", split}, {"project_and_split", project_and<split>}},
              "the right shape, but a reshape alone: it keeps the order of the numbers, so head 0 gets "
              "all pieces of the first tokens instead of the first piece of all tokens.");
}  // namespace reshape_alone

namespace permute_left_out {
Tensor split(const Tensor& x, int64_t h) {
  return reshape(x, {x.dim(0), x.dim(1), h, -1});  // [B, T, h, d_h]
}
const Candidate
    candidate("permute_left_out", {{"split", split}, {"project_and_split", project_and<split>}},
              "the tokens are cut, but still stand before the heads: [B, T, h, d_h]. A matrix product "
              "would take the pieces of one token for a head.");
}  // namespace permute_left_out

namespace keys_upright {
Tensor split(const Tensor& x, int64_t h) {
  return transpose(split_right(x, h));  // [B, h, d_h, T]
}
const Candidate
    candidate("keys_upright", {{"split", split}, {"project_and_split", project_and<split>}},
              "each head is transposed: [B, h, d_h, T]. Tokens are rows; the transpose of k comes later, "
              "with the scores.");
}  // namespace keys_upright

namespace interleaved {
Tensor split(const Tensor& x, int64_t h) {
  return permute(reshape(x, {x.dim(0), x.dim(1), -1, h}), {0, 3, 1, 2});  // [B, h, T, d_h]
}
const Candidate
    candidate("interleaved", {{"split", split}, {"project_and_split", project_and<split>}},
              "the numbers are dealt out like cards, number j to head j % h. A head takes a whole piece: "
              "number j goes to head j / d_h.");
}  // namespace interleaved

namespace heads_reversed {
Tensor split(const Tensor& x, int64_t h) {
  const Tensor right = split_right(x, h);  // [B, h, T, d_h]
  std::vector<Tensor> heads;
  for (int64_t i = h; i-- > 0;) heads.push_back(slice(right, 1, i, i + 1));
  return concat(heads, 1);  // [B, h, T, d_h]
}
const Candidate
    candidate("heads_reversed", {{"split", split}, {"project_and_split", project_and<split>}},
              "the heads come out in reverse order: the first piece of a token belongs to head 0.");
}  // namespace heads_reversed

namespace first_piece_for_all {
Tensor split(const Tensor& x, int64_t h) {
  const Tensor first = slice(split_right(x, h), 1, 0, 1);   // [B, 1, T, d_h]
  return concat(std::vector<Tensor>(size_t(h), first), 1);  // [B, h, T, d_h]
}
const Candidate
    candidate("first_piece_for_all", {{"split", split}, {"project_and_split", project_and<split>}},
              "every head got the first piece of each token. Head i takes the numbers from i * d_h on.");
}  // namespace first_piece_for_all

namespace first_item_for_all {
Tensor split(const Tensor& x, int64_t h) {
  const Tensor first = split_right(slice(x, 0, 0, 1), h);          // [1, h, T, d_h]
  return concat(std::vector<Tensor>(size_t(x.dim(0)), first), 0);  // [B, h, T, d_h]
}
const Candidate candidate("first_item_for_all", {{"split", split}, {"project_and_split", project_and<split>}},
                          "every item came out as item 0: the batch is missing from the place that is read.");
}  // namespace first_item_for_all

namespace written_into_item_0 {
Tensor split(const Tensor& x, int64_t h) {
  const int64_t B = x.dim(0);
  const Tensor last = split_right(slice(x, 0, B - 1, B), h);              // [1, h, T, d_h]
  const Tensor rest = Tensor::zeros({B - 1, h, x.dim(1), x.dim(2) / h});  // [B - 1, h, T, d_h]
  return B == 1 ? last : concat({last, rest}, 0);                         // [B, h, T, d_h]
}
const Candidate
    candidate("written_into_item_0", {{"split", split}, {"project_and_split", project_and<split>}},
              "all items were written to the place of item 0, one over the other: the batch is missing "
              "from the place that is written.");
}  // namespace written_into_item_0

namespace remainder_dropped {
Tensor split(const Tensor& x, int64_t h) {
  const int64_t d_h = x.dim(2) / h;
  return split_right(slice(x, 2, 0, h * d_h), h);  // [B, h, T, d_h]
}
const Candidate
    candidate("remainder_dropped", {{"split", split}, {"project_and_split", project_and<split>}},
              "D / h is rounded down and the numbers left over are dropped without a word. A width that "
              "the heads do not divide must end in an error.");
}  // namespace remainder_dropped

namespace cut_before_projecting {
Tensor project(const Tensor& x, const Tensor& W, int64_t h, int64_t which) {
  const Tensor pieces = split_right(x, h);  // [B, h, T, D / h]
  const Tensor blocks =
      split_right(reshape(third(reshape(W, {1, W.dim(0), W.dim(1)}), which), {h, W.dim(0) / h, W.dim(1) / 3}),
                  h);  // [h, h, D / h, E / h]
  std::vector<Tensor> heads;
  for (int64_t i = 0; i < h; i++) {
    const Tensor block = slice(slice(blocks, 0, i, i + 1), 1, i, i + 1);  // [1, 1, D / h, E / h]
    heads.push_back(matmul(slice(pieces, 1, i, i + 1), block));           // [B, 1, T, E / h]
  }
  return concat(heads, 1);  // [B, h, T, E / h]
}
const Candidate
    candidate("cut_before_projecting", {{"split", split_right}, {"project_and_split", project}},
              "x is cut first and each piece projected: a head then reads only its own slice of a token. "
              "Project the whole token, then cut the result.");
}  // namespace cut_before_projecting

namespace one_small_projection {
Tensor project(const Tensor& x, const Tensor& W, int64_t h, int64_t which) {
  const Tensor pieces = split_right(x, h);            // [B, h, T, D / h]
  const Tensor first = slice(W, 0, 0, W.dim(0) / h);  // [D / h, 3 E]
  const int64_t E = W.dim(1) / 3;
  return matmul(pieces, slice(first, 1, which * E, which * E + E / h));  // [B, h, T, E / h]
}
const Candidate
    candidate("one_small_projection", {{"split", split_right}, {"project_and_split", project}},
              "x is cut first, and one small projection serves all heads: heads that are fed the same "
              "would then say the same. Each head has columns of W of its own, over the whole token.");
}  // namespace one_small_projection

namespace heads_outermost {
Tensor project(const Tensor& x, const Tensor& W, int64_t h, int64_t which) {
  const Tensor heads = split_right(matmul(x, W), h);  // [B, h, T, 3 E / h]
  const int64_t d_h = heads.dim(3) / 3;
  return slice(heads, 3, which * d_h, (which + 1) * d_h);  // [B, h, T, E / h]
}
const Candidate
    candidate("heads_outermost", {{"split", split_right}, {"project_and_split", project}},
              "the row was cut into heads first, and each head into q, k and v. That is another layout of "
              "W (some models use it); here all of q comes first, then k, then v.");
}  // namespace heads_outermost

namespace width_of_x {
Tensor project(const Tensor& x, const Tensor& W, int64_t h, int64_t which) {
  const int64_t D = x.dim(2);
  return split_right(slice(matmul(x, W), 2, which * D, (which + 1) * D), h);  // [B, h, T, D / h]
}
const Candidate
    candidate("width_of_x", {{"split", split_right}, {"project_and_split", project}},
              "the columns of q, k and v were counted by the width of x. A third of the columns of W is "
              "E = W.dim(1) / 3, which need not be D.");
}  // namespace width_of_x

namespace thirds_backwards {
Tensor project(const Tensor& x, const Tensor& W, int64_t h, int64_t which) {
  return split_right(third(matmul(x, W), 2 - which), h);  // [B, h, T, E / h]
}
const Candidate candidate("thirds_backwards", {{"split", split_right}, {"project_and_split", project}},
                          "the thirds were counted from the end. q stands first, then k, then v.");
}  // namespace thirds_backwards

namespace always_q {
Tensor project(const Tensor& x, const Tensor& W, int64_t h, int64_t) {
  return split_right(third(matmul(x, W), 0), h);  // [B, h, T, E / h]
}
const Candidate
    candidate("always_q", {{"split", split_right}, {"project_and_split", project}},
              "q comes back whatever `which` says: k and v are the other two thirds of the columns.");
}  // namespace always_q

namespace thirds_interleaved {
Tensor project(const Tensor& x, const Tensor& W, int64_t h, int64_t which) {
  const Tensor qkv = matmul(x, W);                                           // [B, T, 3 E]
  const Tensor dealt = reshape(qkv, {x.dim(0), x.dim(1), W.dim(1) / 3, 3});  // [B, T, E, 3]
  return split_right(reshape(slice(dealt, 3, which, which + 1), {x.dim(0), x.dim(1), -1}),
                     h);  // [B, h, T, E / h]
}
const Candidate
    candidate("thirds_interleaved", {{"split", split_right}, {"project_and_split", project}},
              "every third column was taken. q, k and v stand one after the other, E columns each.");
}  // namespace thirds_interleaved

}  // namespace

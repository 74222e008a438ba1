// What people really write for exercise 08-merge. The check knows them all, and says which one it was.
#include <algorithm>
#include <cmath>

#include "course/candidate.h"

using namespace headway;

namespace {

using Merge = Tensor (*)(const Tensor& z);

Tensor merge_right(const Tensor& z) {
  return reshape(permute(z, {0, 2, 1, 3}), {z.dim(0), z.dim(2), -1});  // [B, T, D]
}
Tensor merge_by_reshape(const Tensor& z) {
  return reshape(z, {z.dim(0), z.dim(2), -1});  // [B, T, D] by its shape
}
Tensor split_right(const Tensor& x, int64_t h) {
  return permute(reshape(x, {x.dim(0), x.dim(1), h, -1}), {0, 2, 1, 3});  // [B, h, T, d_h]
}
Tensor split_by_reshape(const Tensor& x, int64_t h) {
  return reshape(x, {x.dim(0), h, x.dim(1), -1});  // [B, h, T, d_h] by its shape
}

// mix with a merge of its own.
template <Merge merge>
Tensor mix_and(const Tensor& x, const Tensor& pattern) {
  return merge(matmul(pattern, split_right(x, pattern.dim(1))));  // [B, T, D]
}

// How one token moved, from its D numbers before and after.
using Flag = Scalar (*)(const Scalar* before, const Scalar* after, int64_t D);

Scalar count_changes(const Scalar* before, const Scalar* after, int64_t D) {
  Scalar count = 0;
  for (int64_t j = 0; j < D; j++) count += before[j] != after[j] ? 1 : 0;
  return count;
}
template <bool (*differ)(Scalar before, Scalar after)>
Scalar any(const Scalar* before, const Scalar* after, int64_t D) {
  return std::equal(before, before + D, after, [](Scalar a, Scalar b) { return !differ(a, b); }) ? 0 : 1;
}
bool not_equal(Scalar before, Scalar after) { return before != after; }

template <Flag flag>
Tensor moved_by(const Tensor& before, const Tensor& after) {
  const int64_t B = before.dim(0), T = before.dim(1), D = before.dim(2);
  Tensor out = Tensor::zeros({B, T});  // [B, T]
  for (int64_t i = 0; i < B * T; i++) {
    out.mutable_values()[size_t(i)] = flag(before.data() + i * D, after.data() + i * D, D);
  }
  return out;
}
const auto moved_right = moved_by<any<not_equal>>;

// The three functions, one of them wrong: a merge (and with it the mix), a mix, or the flag of a token.
using Mix = Tensor (*)(const Tensor& x, const Tensor& pattern);

template <Merge merge>
std::vector<Function> with_merge() {
  return {{"merge", merge}, {"mix", mix_and<merge>}, {"moved", moved_right}};
}
std::vector<Function> with_mix(Mix mix) {
  return {{"merge", merge_right}, {"mix", mix}, {"moved", moved_right}};
}
std::vector<Function> with_moved(Mix moved) {
  return {{"merge", merge_right}, {"mix", mix_and<merge_right>}, {"moved", moved}};
}

// ---- merge

namespace reshape_alone {
const Candidate candidate(
    "reshape_alone", with_merge<merge_by_reshape>(),
    "the right shape, but a reshape alone: it keeps the order of the numbers, so a row is filled with "
    "several tokens of one head. First permute, so that the heads of one token come together.");
}  // namespace reshape_alone

namespace last_axes_swapped {
Tensor merge(const Tensor& z) { return merge_by_reshape(transpose(z)); }
const Candidate candidate("last_axes_swapped", with_merge<merge>(),
                          "the last two axes were swapped, tokens and numbers (that is what transpose does). "
                          "Heads and tokens must change places, axes 1 and 2: take permute.");
}  // namespace last_axes_swapped

namespace interleaved {
Tensor merge(const Tensor& z) {
  return reshape(permute(z, {0, 2, 3, 1}), {z.dim(0), z.dim(2), -1});  // [B, T, d_h h]
}
const Candidate candidate("interleaved", with_merge<merge>(),
                          "number j of head i went to place j h + i, one number of each head in turn. A head "
                          "hands on a whole piece: number j of head i goes to place i d_h + j.");
}  // namespace interleaved

namespace averaged {
Tensor merge(const Tensor& z) {
  return concat(std::vector<Tensor>(size_t(z.dim(1)), mean(z, {1})), 2);  // [B, T, D]
}
const Candidate
    candidate("averaged", with_merge<merge>(),
              "the heads were averaged, and the average stands in every piece. Nothing is added in "
              "a merge: each head keeps its numbers, side by side.");
}  // namespace averaged

namespace added_up {
Tensor merge(const Tensor& z) { return sum(z, {1}); }  // [B, T, d_h]
const Candidate
    candidate("added_up", with_merge<merge>(),
              "the heads were added up: [B, T, d_h], and what each of them said is lost. Put them "
              "side by side: a row of the result has h d_h numbers.");
}  // namespace added_up

namespace heads_reversed {
Tensor merge(const Tensor& z) {
  std::vector<Tensor> heads;
  for (int64_t i = z.dim(1); i-- > 0;) heads.push_back(slice(z, 1, i, i + 1));
  return merge_right(concat(heads, 1));  // [B, T, D]
}
const Candidate candidate("heads_reversed", with_merge<merge>(),
                          "the heads stand in reverse order: the first piece of a row belongs to head 0.");
}  // namespace heads_reversed

namespace items_mixed {
Tensor merge(const Tensor& z) {
  return reshape(permute(z, {2, 0, 1, 3}), {z.dim(0), z.dim(2), -1});  // [B, T, D] by its shape
}
const Candidate
    candidate("items_mixed", with_merge<merge>(),
              "rows of one item came out in another: the tokens were brought to the front, before "
              "the batch. Axis 0 stays where it is; only heads and tokens change places.");
}  // namespace items_mixed

namespace below_one_another {
Tensor merge(const Tensor& z) {
  return reshape(z, {z.dim(0), -1, z.dim(3)});  // [B, h T, d_h]
}
const Candidate
    candidate("below_one_another", with_merge<merge>(),
              "the heads stand below one another, [B, h T, d_h], as more tokens. They belong side "
              "by side: the rows get longer, and their number stays T.");
}  // namespace below_one_another

// ---- mix

namespace both_by_reshape {
Tensor mix(const Tensor& x, const Tensor& pattern) {
  return merge_by_reshape(matmul(pattern, split_by_reshape(x, pattern.dim(1))));  // [B, T, D] by its shape
}
const Candidate
    candidate("both_by_reshape", with_mix(mix),
              "x was cut by a reshape alone, and put together by one. Each undoes the other, so no "
              "round trip shows it: but head 0 held the first tokens, not a piece of every token.");
}  // namespace both_by_reshape

namespace mix_merged_by_reshape {
const Candidate
    candidate("mix_merged_by_reshape", with_mix(mix_and<merge_by_reshape>),
              "the cut and the patterns are right, but at the end the heads were put together by a "
              "reshape alone: a row of the result holds several tokens of one head.");
}  // namespace mix_merged_by_reshape

namespace mix_cut_by_reshape {
Tensor mix(const Tensor& x, const Tensor& pattern) {
  return merge_right(matmul(pattern, split_by_reshape(x, pattern.dim(1))));  // [B, T, D]
}
const Candidate candidate("mix_cut_by_reshape", with_mix(mix),
                          "the end is right, but x was cut by a reshape alone: head 0 then holds the first "
                          "tokens, where it should hold the first piece of every token.");
}  // namespace mix_cut_by_reshape

namespace mix_dealt_out {
Tensor mix(const Tensor& x, const Tensor& pattern) {
  const int64_t B = x.dim(0), T = x.dim(1), h = pattern.dim(1);
  const Tensor dealt = permute(reshape(x, {B, T, -1, h}), {0, 3, 1, 2});            // [B, h, T, d_h]
  return reshape(permute(matmul(pattern, dealt), {0, 2, 3, 1}), {B, T, x.dim(2)});  // [B, T, D]
}
const Candidate
    candidate("mix_dealt_out", with_mix(mix),
              "the numbers were dealt out to the heads in turn, number j to head j % h. A head mixes a "
              "whole piece: number j belongs to head j / d_h.");
}  // namespace mix_dealt_out

namespace not_cut {
Tensor mix(const Tensor& x, const Tensor& pattern) {
  const Tensor whole = reshape(x, {x.dim(0), 1, x.dim(1), x.dim(2)});  // [B, 1, T, D]
  return merge_right(matmul(pattern, whole));                          // [B, T, h D]
}
const Candidate
    candidate("not_cut", with_mix(mix),
              "x was not cut: every head mixed whole tokens, and the result is h times too wide. Head i "
              "mixes only its own piece of d_h = D / h numbers.");
}  // namespace not_cut

namespace pattern_of_head_0 {
Tensor mix(const Tensor& x, const Tensor& pattern) {
  const Tensor heads = split_right(x, pattern.dim(1));         // [B, h, T, d_h]
  return merge_right(matmul(slice(pattern, 1, 0, 1), heads));  // [B, T, D]
}
const Candidate candidate("pattern_of_head_0", with_mix(mix),
                          "every head was mixed by the pattern of head 0. Head i has the pattern [b, i].");
}  // namespace pattern_of_head_0

namespace mean_pattern {
Tensor mix(const Tensor& x, const Tensor& pattern) {
  return matmul(mean(pattern, {1}), x);  // [B, T, D]
}
const Candidate
    candidate("mean_pattern", with_mix(mix),
              "the patterns of the heads were averaged, so all heads look the same way. Each head "
              "mixes its own piece with its own pattern.");
}  // namespace mean_pattern

namespace pattern_transposed {
Tensor mix(const Tensor& x, const Tensor& pattern) {
  return mix_and<merge_right>(x, transpose(pattern));  // [B, T, D]
}
const Candidate
    candidate("pattern_transposed", with_mix(mix),
              "the pattern was used on its side. Row t of a pattern says what row t of the result "
              "is made of: [T, T] times [T, d_h], without a transpose.");
}  // namespace pattern_transposed

namespace patterns_of_item_0 {
Tensor mix(const Tensor& x, const Tensor& pattern) {
  return mix_and<merge_right>(x, slice(pattern, 0, 0, 1));  // [B, T, D]
}
const Candidate candidate("patterns_of_item_0", with_mix(mix),
                          "every item was mixed by the patterns of item 0. Item b has patterns of its own.");
}  // namespace patterns_of_item_0

namespace last_token_overwrites {
Tensor mix(const Tensor& x, const Tensor& pattern) {
  const int64_t T = x.dim(1);
  const Tensor last = slice(pattern, 3, T - 1, T);                          // [B, h, T, 1]
  const Tensor heads = split_right(slice(x, 1, T - 1, T), pattern.dim(1));  // [B, h, 1, d_h]
  return merge_right(matmul(last, heads));                                  // [B, T, D]
}
const Candidate candidate("last_token_overwrites", with_mix(mix),
                          "only the last token is left in each sum, as if = stood where += should.");
}  // namespace last_token_overwrites

namespace softmax_again {
Tensor mix(const Tensor& x, const Tensor& pattern) {
  return mix_and<merge_right>(x, softmax(pattern));  // [B, T, D]
}
const Candidate candidate("softmax_again", with_mix(mix),
                          "softmax was taken of the pattern. It has been already: its rows sum to 1, and are "
                          "used as they are.");
}  // namespace softmax_again

// ---- moved

namespace sum_of_changes {
Scalar flag(const Scalar* before, const Scalar* after, int64_t D) {
  Scalar change = 0;
  for (int64_t j = 0; j < D; j++) change += after[j] - before[j];
  return change != 0 ? 1 : 0;
}
const Candidate
    candidate("sum_of_changes", with_moved(moved_by<flag>),
              "the changes of a token were added up before asking whether there are any: +2 and -2 "
              "make 0. One number that differs is enough, whatever the others do.");
}  // namespace sum_of_changes

namespace first_number_only {
Scalar flag(const Scalar* before, const Scalar* after, int64_t) { return before[0] != after[0] ? 1 : 0; }
const Candidate candidate("first_number_only", with_moved(moved_by<flag>),
                          "only the first number of each token was compared. Any of the D may have moved.");
}  // namespace first_number_only

namespace last_number_decides {
Scalar flag(const Scalar* before, const Scalar* after, int64_t D) {
  return before[D - 1] != after[D - 1] ? 1 : 0;
}
const Candidate candidate("last_number_decides", with_moved(moved_by<flag>),
                          "the last number of a token decides alone. If the loop goes over all of them, it "
                          "writes 0 over a 1 it had found: once a 1, always a 1.");
}  // namespace last_number_decides

namespace inverted {
Scalar flag(const Scalar* before, const Scalar* after, int64_t D) {
  return any<not_equal>(before, after, D) == 0 ? 1 : 0;
}
const Candidate candidate("inverted", with_moved(moved_by<flag>),
                          "1 stands where nothing moved. 1 means moved, 0 means stayed.");
}  // namespace inverted

namespace any_equal {
bool equal(Scalar before, Scalar after) { return before == after; }
const Candidate candidate("any_equal", with_moved(moved_by<any<equal>>),
                          "a token is flagged if any of its numbers stayed: == stands where != should.");
}  // namespace any_equal

namespace never_flagged {
Scalar flag(const Scalar*, const Scalar*, int64_t) { return 0; }
const Candidate candidate("never_flagged", with_moved(moved_by<flag>),
                          "no token is ever flagged. Is the 1 written into the tensor that is returned?");
}  // namespace never_flagged

namespace number_by_number {
Tensor moved(const Tensor& before, const Tensor& after) {
  const int64_t D = before.dim(2);
  const Shape column = {before.dim(0), before.dim(1) * D, 1};
  return reshape(moved_right(reshape(before, column), reshape(after, column)), before.shape());  // [B, T, D]
}
const Candidate
    candidate("number_by_number", with_moved(moved),
              "every number has a flag of its own. A token has one: [B, T], 1 if any of its D moved.");
}  // namespace number_by_number

namespace flags_of_item_0 {
Tensor moved(const Tensor& before, const Tensor& after) {
  const int64_t B = before.dim(0), T = before.dim(1);
  const Tensor each = moved_right(before, after);                                           // [B, T]
  const Tensor summed = sum(each, {0}, true);                                               // [1, T]
  const Tensor any_of = moved_right(reshape(summed, {1, T, 1}), Tensor::zeros({1, T, 1}));  // [1, T]
  return B == 1 ? any_of : concat({any_of, Tensor::zeros({B - 1, T})}, 0);                  // [B, T]
}
const Candidate
    candidate("flags_of_item_0", with_moved(moved),
              "the flags of all items were written into item 0. The flag of token t in item b stands at "
              "b * T + t.");
}  // namespace flags_of_item_0

namespace counted {
const Candidate
    candidate("counted", with_moved(moved_by<count_changes>),
              "the numbers that differ were counted. Asked is only whether there are any: 1 or 0.");
}  // namespace counted

namespace only_upwards {
bool grew(Scalar before, Scalar after) { return after > before; }
const Candidate candidate("only_upwards", with_moved(moved_by<any<grew>>),
                          "only numbers that grew were seen. One that fell has moved too: ask !=, not >.");
}  // namespace only_upwards

namespace with_a_tolerance {
bool apart(Scalar before, Scalar after) { return std::abs(after - before) > Scalar(1e-5); }
const Candidate candidate("with_a_tolerance", with_moved(moved_by<any<apart>>),
                          "small changes were forgiven. A number that nothing reached keeps every bit, and a "
                          "leak may be small: ask != without a tolerance.");
}  // namespace with_a_tolerance

namespace last_token_only {
Tensor moved(const Tensor& before, const Tensor& after) {
  const int64_t B = before.dim(0), T = before.dim(1);
  const Tensor last = moved_right(slice(before, 1, T - 1, T), slice(after, 1, T - 1, T));  // [B, 1]
  return concat({Tensor::zeros({B, T - 1}), last}, 1);                                     // [B, T]
}
const Candidate candidate(
    "last_token_only", with_moved(moved),
    "only the last token of each item was looked at. A leak shows in the earlier ones: compare them all.");
}  // namespace last_token_only

namespace whole_line {
Tensor moved(const Tensor& before, const Tensor& after) {
  const int64_t B = before.dim(0), T = before.dim(1);
  const Tensor line = moved_right(reshape(before, {B, 1, -1}), reshape(after, {B, 1, -1}));  // [B, 1]
  return line * Tensor::full({1, T}, 1);                                                     // [B, T]
}
const Candidate
    candidate("whole_line", with_moved(moved),
              "a change in one token flags all tokens of the item. Each token has a flag of its own.");
}  // namespace whole_line

namespace any_item {
Tensor in_one_row(const Tensor& x) {
  return reshape(permute(x, {1, 0, 2}), {1, x.dim(1), -1});  // [1, T, B D]
}
Tensor moved(const Tensor& before, const Tensor& after) {
  const Tensor token = moved_right(in_one_row(before), in_one_row(after));  // [1, T]
  return token * Tensor::full({before.dim(0), 1}, 1);                       // [B, T]
}
const Candidate candidate("any_item", with_moved(moved),
                          "a token that moved in one item is flagged in all of them. Compare item by item.");
}  // namespace any_item

}  // namespace

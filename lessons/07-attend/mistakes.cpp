// What people really write for exercise 07-attend. The check knows them all, and says which one it was.
#include "course/candidate.h"

using namespace headway;

namespace {

using Pattern = Tensor (*)(const Tensor& q, const Tensor& k, const Allow& allow);

Tensor scores_of(const Tensor& q, const Tensor& k) {
  return scale(matmul(q, transpose(k)), 1 / std::sqrt(Scalar(q.dim(3))));  // [B, h, T, S]
}

Tensor pattern_right(const Tensor& q, const Tensor& k, const Allow& allow) {
  return softmax(scores_of(q, k), allow);  // [B, h, T, S]
}

Allow may_see_right(const std::vector<int>& lengths, int64_t T, int64_t S) {
  return Allow::causal(T, S, S - T) & Allow::lengths(lengths, S);  // [B, 1, T, S]
}

// The mask as a tensor of its shape, with `yes` where attending is allowed, else `no`.
Tensor as_tensor(const Allow& allow, Scalar yes, Scalar no) {
  std::vector<Scalar> numbers;
  for (unsigned char flag : allow.flags()) numbers.push_back(flag ? yes : no);
  return Tensor::from(allow.shape(), numbers);
}

Tensor masked_scores(const Tensor& q, const Tensor& k, const Allow& allow, Scalar blocked = -INFINITY) {
  return scores_of(q, k) + as_tensor(allow, 0, blocked);  // [B, h, T, S]
}

// The mask of a rule that says whether query t of an item with `length` real keys may see key s.
template <bool (*rule)(int64_t s, int64_t t, int64_t past, int64_t length)>
Allow mask_by(const std::vector<int>& lengths, int64_t T, int64_t S) {
  std::vector<unsigned char> flags;
  for (int length : lengths) {
    for (int64_t i = 0; i < T * S; i++) flags.push_back(rule(i % S, i / S, S - T, length));
  }
  return Allow({int64_t(lengths.size()), 1, T, S}, flags);
}

// attend with a pattern of its own.
template <Pattern pattern>
Tensor attend_by(const Tensor& q, const Tensor& k, const Tensor& v, const Allow& allow) {
  return matmul(pattern(q, k, allow), v);  // [B, h, T, d_v]
}

// All three functions, one of them wrong.
template <Pattern pattern>
std::vector<Function> wrong_pattern() {
  return {{"pattern", pattern}, {"attend", attend_by<pattern>}, {"may_see", may_see_right}};
}
std::vector<Function> wrong_mask(const Function& may_see) {
  return {{"pattern", pattern_right}, {"attend", attend_by<pattern_right>}, may_see};
}

namespace root_of_the_whole_width {
Tensor pattern(const Tensor& q, const Tensor& k, const Allow& allow) {
  const Scalar D = Scalar(q.dim(1) * q.dim(3));
  return softmax(scale(matmul(q, transpose(k)), 1 / std::sqrt(D)), allow);  // [B, h, T, S]
}
const Candidate candidate("root_of_the_whole_width", wrong_pattern<pattern>(),
                          "the scores are divided by the square root of D = h * d_h. A score is a sum of "
                          "d_h products: divide by the square root of d_h.");
}  // namespace root_of_the_whole_width

namespace no_scale {
Tensor pattern(const Tensor& q, const Tensor& k, const Allow& allow) {
  return softmax(matmul(q, transpose(k)), allow);  // [B, h, T, S]
}
const Candidate candidate("no_scale", wrong_pattern<pattern>(),
                          "the scores went in as they were. First divide them by the square root of d_h.");
}  // namespace no_scale

namespace divided_by_the_width {
Tensor pattern(const Tensor& q, const Tensor& k, const Allow& allow) {
  return softmax(scale(matmul(q, transpose(k)), 1 / Scalar(q.dim(3))), allow);  // [B, h, T, S]
}
const Candidate candidate("divided_by_the_width", wrong_pattern<pattern>(),
                          "the scores are divided by d_h itself. Divide by its square root.");
}  // namespace divided_by_the_width

namespace scale_rounded_to_0 {
Tensor pattern(const Tensor& q, const Tensor& k, const Allow& allow) {
  return softmax(scale(matmul(q, transpose(k)), 0), allow);  // [B, h, T, S]
}
const Candidate candidate("scale_rounded_to_0", wrong_pattern<pattern>(),
                          "all scores are 0, so every key gets the same. In whole numbers 1 / d_h is 0: take "
                          "1 / std::sqrt(Scalar(d_h)).");
}  // namespace scale_rounded_to_0

namespace scale_upside_down {
Tensor pattern(const Tensor& q, const Tensor& k, const Allow& allow) {
  return softmax(scale(matmul(q, transpose(k)), std::sqrt(Scalar(q.dim(3)))), allow);  // [B, h, T, S]
}
const Candidate candidate("scale_upside_down", wrong_pattern<pattern>(),
                          "the scores are multiplied by the square root of d_h (or divided by 1 over it). "
                          "Divide by the root: scale multiplies, so its factor is 1 / sqrt(d_h).");
}  // namespace scale_upside_down

namespace over_the_queries {
Tensor pattern(const Tensor& q, const Tensor& k, const Allow& allow) {
  return transpose(softmax(transpose(masked_scores(q, k, allow))));  // [B, h, T, S]
}
const Candidate candidate("over_the_queries", wrong_pattern<pattern>(),
                          "the softmax runs over the queries: columns sum to 1, rows do not. Each query "
                          "shares out its own weight, over the keys.");
}  // namespace over_the_queries

namespace over_the_heads {
Tensor pattern(const Tensor& q, const Tensor& k, const Allow& allow) {
  const Tensor heads_last = permute(masked_scores(q, k, allow), {0, 2, 3, 1});  // [B, T, S, h]
  return permute(softmax(heads_last), {0, 3, 1, 2});                            // [B, h, T, S]
}
const Candidate candidate("over_the_heads", wrong_pattern<pattern>(),
                          "the softmax runs over the heads: the heads of one place share a 1 between them. "
                          "A head knows nothing of the others; the softmax runs over its keys.");
}  // namespace over_the_heads

namespace q_and_k_exchanged {
Tensor pattern(const Tensor& q, const Tensor& k, const Allow& allow) {
  return softmax(scores_of(k, q), allow);  // [B, h, S, T]
}
const Candidate candidate("q_and_k_exchanged", wrong_pattern<pattern>(),
                          "this is the softmax of k q^T: row s holds key s against all queries. The scores "
                          "are q k^T, one row a query.");
}  // namespace q_and_k_exchanged

namespace mean_of_the_heads {
Tensor pattern(const Tensor& q, const Tensor& k, const Allow& allow) {
  const Tensor own = pattern_right(q, k, allow);             // [B, h, T, S]
  return mean(own, {1}, true) + Tensor::zeros(own.shape());  // [B, h, T, S]
}
const Candidate candidate("mean_of_the_heads", wrong_pattern<pattern>(),
                          "every head has the mean of all patterns. Keep them apart: heads may differ.");
}  // namespace mean_of_the_heads

namespace mask_inverted {
Tensor pattern(const Tensor& q, const Tensor& k, const Allow& allow) {
  return softmax(scores_of(q, k) + as_tensor(allow, -INFINITY, 0));  // [B, h, T, S]
}
const Candidate candidate("mask_inverted", wrong_pattern<pattern>(),
                          "the weight lies on what is blocked; where nothing is, there is none. In Allow "
                          "a true means may attend (in PyTorch's layer: may not).");
}  // namespace mask_inverted

namespace mask_ignored {
Tensor pattern(const Tensor& q, const Tensor& k, const Allow&) {
  return softmax(scores_of(q, k));  // [B, h, T, S]
}
const Candidate candidate("mask_ignored", wrong_pattern<pattern>(),
                          "the mask is not used: blocked keys have weight. softmax takes it as well.");
}  // namespace mask_ignored

namespace mask_added_as_0_and_1 {
Tensor pattern(const Tensor& q, const Tensor& k, const Allow& allow) {
  return softmax(scores_of(q, k) + as_tensor(allow, 1, 0));  // [B, h, T, S]
}
const Candidate candidate("mask_added_as_0_and_1", wrong_pattern<pattern>(),
                          "the mask was added to the scores as 0 and 1: that prefers the allowed keys a "
                          "little and blocks none. Choose by it: a blocked score counts as minus infinity.");
}  // namespace mask_added_as_0_and_1

namespace blocked_scores_0 {
Tensor pattern(const Tensor& q, const Tensor& k, const Allow& allow) {
  return softmax(scores_of(q, k) * as_tensor(allow, 1, 0));  // [B, h, T, S]
}
const Candidate candidate("blocked_scores_0", wrong_pattern<pattern>(),
                          "blocked scores are set to 0, but e^0 is 1: these keys still get weight. A "
                          "blocked score counts as minus infinity.");
}  // namespace blocked_scores_0

namespace mask_after_the_softmax {
Tensor pattern(const Tensor& q, const Tensor& k, const Allow& allow) {
  return softmax(scores_of(q, k)) * as_tensor(allow, 1, 0);  // [B, h, T, S]
}
const Candidate candidate("mask_after_the_softmax", wrong_pattern<pattern>(),
                          "the mask comes after the softmax: blocked weights are gone, and what is left "
                          "does not sum to 1. Block the scores, then share out.");
}  // namespace mask_after_the_softmax

namespace items_for_heads {
Tensor pattern(const Tensor& q, const Tensor& k, const Allow& allow) {
  if (allow.shape().size() == 2 || allow.shape()[1] != 1) return pattern_right(q, k, allow);
  const Tensor scores = scores_of(q, k), mask = as_tensor(allow, 0, -INFINITY);  // mask: [B, 1, T, S]
  std::vector<Tensor> heads;
  for (int64_t i = 0; i < q.dim(1); i++) {
    const int64_t item = i % mask.dim(0);
    heads.push_back(softmax(slice(scores, 1, i, i + 1) + slice(mask, 0, item, item + 1)));  // [B, 1, T, S]
  }
  return concat(heads, 1);  // [B, h, T, S]
}
const Candidate candidate("items_for_heads", wrong_pattern<pattern>(),
                          "the masks of the items met the heads: head 1 of every item reads under the mask "
                          "of item 1. The first axis of the mask goes with the items.");
}  // namespace items_for_heads

namespace nothing_over_nothing {
Tensor pattern(const Tensor& q, const Tensor& k, const Allow& allow) {
  const Tensor e = exp(scores_of(q, k)) * as_tensor(allow, 1, 0);  // [B, h, T, S]
  return e / sum(e, {3}, true);                                    // [B, h, T, S]
}
const Candidate candidate("nothing_over_nothing", wrong_pattern<pattern>(),
                          "0 / 0 is NaN: a query that may see nothing was divided by its sum. It gets 0.");
}  // namespace nothing_over_nothing

namespace minus_a_billion {
Tensor pattern(const Tensor& q, const Tensor& k, const Allow& allow) {
  return softmax(masked_scores(q, k, allow, Scalar(-1e9)));  // [B, h, T, S]
}
const Candidate candidate("minus_a_billion", wrong_pattern<pattern>(),
                          "a query that may see nothing reads all keys alike. Its weights are 0.");
}  // namespace minus_a_billion

namespace pattern_on_its_side {
Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const Allow& allow) {
  return matmul(transpose(pattern_right(q, k, allow)), v);  // [B, h, S, d_v]
}
const Candidate candidate("pattern_on_its_side",
                          {{"pattern", pattern_right}, {"attend", attend}, {"may_see", may_see_right}},
                          "the pattern was transposed before it met v. Its rows are the queries already: z "
                          "is pattern times v.");
}  // namespace pattern_on_its_side

namespace anchored_at_the_top_left {
bool sees(int64_t s, int64_t t, int64_t, int64_t length) { return s <= t && s < length; }
const Candidate candidate("anchored_at_the_top_left", wrong_mask({"may_see", mask_by<sees>}),
                          "query 0 sees key 0 alone, as if nothing came before it. The queries are the last "
                          "of the places: query t sees keys 0 .. S - T + t.");
}  // namespace anchored_at_the_top_left

namespace current_token_left_out {
bool sees(int64_t s, int64_t t, int64_t past, int64_t length) { return s < past + t && s < length; }
const Candidate candidate("current_token_left_out", wrong_mask({"may_see", mask_by<sees>}),
                          "a query does not see its own token, and the first one sees nothing. Keys 0 .. "
                          "past + t, the last one included.");
}  // namespace current_token_left_out

namespace padding_over_queries {
bool sees(int64_t s, int64_t t, int64_t past, int64_t length) { return s <= past + t && past + t < length; }
const Candidate candidate("padding_over_queries", wrong_mask({"may_see", mask_by<sees>}),
                          "the padding was laid over the queries: rows are blocked. Padding is what nobody "
                          "may read, so the columns of its keys are blocked, in every row.");
}  // namespace padding_over_queries

namespace padding_only {
bool sees(int64_t s, int64_t, int64_t, int64_t length) { return s < length; }
const Candidate candidate("padding_only", wrong_mask({"may_see", mask_by<sees>}),
                          "the padding is blocked, but the future is not: query t sees keys 0 .. S - T + t.");
}  // namespace padding_only

namespace causal_only {
bool sees(int64_t s, int64_t t, int64_t past, int64_t) { return s <= past + t; }
const Candidate candidate("causal_only", wrong_mask({"may_see", mask_by<sees>}),
                          "the future is blocked, but the padding is not: item b has lengths[b] real keys.");
}  // namespace causal_only

namespace either_is_enough {
bool sees(int64_t s, int64_t t, int64_t past, int64_t length) { return s <= past + t || s < length; }
const Candidate candidate("either_is_enough", wrong_mask({"may_see", mask_by<sees>}),
                          "a key counts as allowed if one of the two rules allows it. Both must: not later "
                          "than the query, and not padding.");
}  // namespace either_is_enough

namespace true_means_blocked {
bool sees(int64_t s, int64_t t, int64_t past, int64_t length) { return s > past + t || s >= length; }
const Candidate candidate("true_means_blocked", wrong_mask({"may_see", mask_by<sees>}),
                          "all flags are the wrong way round. In Allow a true means may attend.");
}  // namespace true_means_blocked

namespace no_head_axis {
Allow may_see(const std::vector<int>& lengths, int64_t T, int64_t S) {
  return Allow({int64_t(lengths.size()), T, S}, may_see_right(lengths, T, S).flags());  // [B, T, S]
}
const Candidate candidate("no_head_axis", wrong_mask({"may_see", may_see}),
                          "the mask is [B, T, S]: its items would meet the heads. It needs a head axis.");
}  // namespace no_head_axis

namespace more_queries_than_places {
bool sees(int64_t s, int64_t t, int64_t past, int64_t length) { return s <= past + t && s < length; }
const Candidate candidate("more_queries_than_places", wrong_mask({"may_see", mask_by<sees>}),
                          "five queries cannot be the last of three places, and yet a mask was made for "
                          "them. More queries than places must end in an error.");
}  // namespace more_queries_than_places

}  // namespace

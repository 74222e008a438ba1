#include "nn/generate.h"

#include <algorithm>
#include <cmath>

#include "core/kernels.h"
#include "core/node.h"

namespace headway {

namespace {

// What was asked must fit before any work starts.
void refuse_bad_prompts(const Transformer& model, int64_t size, int64_t B, int64_t count) {
  if (B < 1 || count < 0) {
    throw ValueError(Message(text("generate: ", count, " tokens for each of ", B, " prompts cannot be made"))
                         .rule("there is at least one prompt, and the count is not negative"));
  }
  if (size == 0) {
    throw ValueError(Message("generate: the prompt is empty")
                         .rule("a new token follows from the last one, so there must be one")
                         .hint("begin with a token that marks the start of a line"));
  }
  if (size % B != 0) {
    throw ShapeError(Message(text("generate: ", size, " tokens are not ", B, " prompts of equal length (",
                                  size, " = ", B, " * ", size / B, " + ", size % B, ")"))
                         .rule("prompts holds B rows of the same length, one after the other"));
  }
  const int64_t T = size / B, context = model.options.context, most = std::max<int64_t>(0, context + 1 - T);
  if (count <= most) return;
  Message message(text("generate: a prompt of ", T, " tokens and ", count, " new ones need ", T + count - 1,
                       " positions, and the table has ", context));
  message.tensor("positions", model.pos.weight.name(), model.pos.weight.shape());
  message.rule("every token that is read needs a position; the last new one is not read");
  throw ShapeError(message.hint(text(
      "ask for at most ", most, " new tokens, or build the model with context ", T + count - 1, " or more")));
}

// For each item, the token with the largest logit behind its last token; logits [B, T, V].
std::vector<int> likeliest(const Tensor& logits) {
  const int64_t B = logits.dim(0), T = logits.dim(1), V = logits.dim(2);
  std::vector<int> next;
  for (int64_t b = 0; b < B; b++) {
    const Scalar* row = logits.data() + ((b + 1) * T - 1) * V;
    const Scalar largest = row_max(row, V);
    if (std::isnan(largest)) {
      throw ValueError(Message(text("generate: item ", b, " has a NaN among the logits of its next token"))
                           .tensor("logits", logits.name(), logits.shape())
                           .rule("no token is the likeliest where one number is not a number")
                           .hint("while a WatchForNaN lives, the op that makes the first NaN is named"));
    }
    next.push_back(int(std::find(row, row + V, largest) - row));  // the first of equals
  }
  return next;
}

// The lines, each with its next token behind it.
std::vector<int> longer(const std::vector<int>& lines, const std::vector<int>& next) {
  const size_t B = next.size(), T = lines.size() / B;
  std::vector<int> out;
  for (size_t b = 0; b < B; b++) {
    out.insert(out.end(), lines.begin() + int64_t(b * T), lines.begin() + int64_t((b + 1) * T));
    out.push_back(next[b]);
  }
  return out;
}

}  // namespace

std::vector<int> generate(const Transformer& model, const std::vector<int>& prompts, int64_t B, int64_t count,
                          bool use_cache) {
  refuse_bad_prompts(model, int64_t(prompts.size()), B, count);
  const NoGrad no_grad;
  int64_t T = int64_t(prompts.size()) / B;
  std::vector<KVCache> caches;
  if (use_cache && count > 0) caches = model.make_caches(B, T + count - 1);

  std::vector<int> made(size_t(B * count));
  std::vector<int> read = prompts;  // what the model reads next
  for (int64_t i = 0; i < count; i++) {
    const Tensor logits = use_cache ? model(read, B, T, caches) : model(read, B, T);  // [B, T, V]
    const std::vector<int> next = likeliest(logits);
    for (int64_t b = 0; b < B; b++) made[size_t(b * count + i)] = next[size_t(b)];
    read = use_cache ? next : longer(read, next);
    T = use_cache ? 1 : T + 1;
  }
  return made;
}

}  // namespace headway

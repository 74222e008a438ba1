#include "nn/attention_checks.h"

#include <algorithm>

namespace headway {

namespace {

// "1, 2, 5 or 10": the head counts that divide n, at most the eight smallest up to 4096, and n.
std::string divisors(int64_t n) {
  std::vector<int64_t> all;
  for (int64_t i = 1; i <= std::min<int64_t>(n, 4096) && all.size() < 8; i++) {
    if (n % i == 0) all.push_back(i);
  }
  if (all.back() != n) all.push_back(n);
  std::string out;
  for (size_t i = 0; i < all.size(); i++) {
    out += (i == 0 ? "" : i + 1 == all.size() ? " or " : ", ") + std::to_string(all[i]);
  }
  return out;
}

// Refuses a head count that does not cut `width` into equal whole parts, before anything is allocated.
void check_heads_divide(const char* op, int64_t width, int64_t heads, const Tensor* x) {
  if (width < 1) {
    Message message(text(op, ": embed_dim ", width, " leaves no number for a head"));
    if (x) add_tensor(message, "x", *x);
    throw ShapeError(message.rule("embed_dim is at least 1, and a multiple of num_heads"));
  }
  if (heads >= 1 && width % heads == 0) return;
  std::string asked;
  if (heads < 1)
    asked = text(op, ": num_heads ", heads, " is not at least 1");
  else if (heads > width)
    asked = text(op, ": num_heads ", heads, " is more than embed_dim ", width);
  else {
    asked = text(op, ": embed_dim ", width, " is not divisible by num_heads ", heads, " (", width, " = ",
                 heads, " * ", width / heads, " + ", width % heads, ")");
  }
  Message message(asked);
  if (x) add_tensor(message, "x", *x);
  message.rule("head_dim = embed_dim / num_heads must be a whole number");
  const std::string use =
      text("with embed_dim ", width, " use ", divisors(width), width == 1 ? " head" : " heads");
  if (heads < 1 || heads > width) throw ShapeError(message.hint(use));
  throw ShapeError(message.hint(
      text(use, ", or make embed_dim ", width / heads * heads, " or ", (width / heads + 1) * heads)));
}

}  // namespace

void check_split(const Tensor& x, int64_t num_heads) {
  if (x.rank() != 3) {
    throw ShapeError(Message(text("split_heads: x has ", x.rank(), " axes, not 3"))
                         .tensor("x", x.name(), x.shape())
                         .rule("before the split a tensor is [B, T, D]"));
  }
  check_heads_divide("split_heads", x.dim(2), num_heads, &x);
}

void check_heads(const char* op, const char* role, const Tensor& t) {
  if (t.rank() == 4) return;
  throw ShapeError(Message(text(op, ": ", role, " has ", t.rank(), " axes, not 4"))
                       .tensor(role, t.name(), t.shape())
                       .rule("with heads a tensor is [B, h, T, d_h]")
                       .hint("split_heads makes it from [B, T, D]"));
}

void check_qkv(const Tensor& q, const Tensor& k, const Tensor& v) {
  check_heads("attention", "q", q);
  check_heads("attention", "k", k);
  check_heads("attention", "v", v);
  std::string wrong;
  if (q.dim(0) != k.dim(0) || q.dim(1) != k.dim(1)) {
    wrong = text("q has ", q.dim(0), " items of ", q.dim(1), " heads, k has ", k.dim(0), " of ", k.dim(1));
  } else if (q.dim(3) != k.dim(3)) {
    wrong = text("q has head_dim ", q.dim(3), ", k has ", k.dim(3));
  } else if (k.dim(0) != v.dim(0) || k.dim(1) != v.dim(1) || k.dim(2) != v.dim(2)) {
    wrong = text("k is ", to_text({k.dim(0), k.dim(1), k.dim(2)}), " on its first three axes, v is ",
                 to_text({v.dim(0), v.dim(1), v.dim(2)}));
  }
  if (wrong.empty() && q.dim(3) < 1) wrong = "q and k have head_dim 0, and a score needs 1 or more";
  if (wrong.empty()) return;
  throw ShapeError(Message("attention: " + wrong)
                       .tensor("q", q.name(), q.shape())
                       .tensor("k", k.name(), k.shape())
                       .tensor("v", v.name(), v.shape())
                       .rule("q [B, h, T, d_h], k [B, h, S, d_h], v [B, h, S, d_v]"));
}

int64_t check_head_dim(int64_t embed_dim, int64_t num_heads, int64_t head_dim) {
  if (embed_dim < 1 || head_dim < 0) {
    throw ShapeError(
        Message(text("MultiheadAttention: embed_dim ", embed_dim, " and head_dim ", head_dim,
                     " do not make a layer"))
            .rule("embed_dim is at least 1; head_dim is at least 1, or 0 for embed_dim / num_heads"));
  }
  if (head_dim > 0 && num_heads > 0) return head_dim;
  check_heads_divide("MultiheadAttention", embed_dim, num_heads, nullptr);
  return embed_dim / num_heads;
}

}  // namespace headway

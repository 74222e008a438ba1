#include "core/mask.h"

#include "core/broadcast.h"

namespace headway {

Allow::Allow(Shape shape, std::vector<unsigned char> flags)
    : shape_(std::move(shape)), flags_(std::move(flags)) {
  if (element_count(shape_) == int64_t(flags_.size())) return;
  throw ShapeError(Message(text("Allow: shape ", to_text(shape_), " holds ", element_count(shape_),
                                " flags, but ", flags_.size(), " were given"))
                       .rule("one flag per query and key: 1 = may attend, 0 = may not"));
}

Allow Allow::causal(int64_t T, int64_t S, int64_t past) {
  if (past < 0 || past > S) {
    const std::string wrong = past < 0 ? text("below 0") : text("more than all ", S, " keys");
    throw ValueError(Message(text("Allow::causal: past ", past, " is ", wrong))
                         .rule("past counts the keys that stand before the first query"));
  }
  std::vector<unsigned char> flags(size_t(element_count({T, S})));
  for (int64_t t = 0; t < T; t++) {
    for (int64_t s = 0; s < S; s++) flags[size_t(t * S + s)] = s <= past + t;
  }
  return Allow({T, S}, std::move(flags));
}

Allow Allow::lengths(std::span<const int> lengths, int64_t S) {
  std::vector<unsigned char> flags;
  flags.reserve(size_t(element_count({int64_t(lengths.size()), S})));
  for (const int& length : lengths) {
    if (length < 0 || length > S) {
      throw ValueError(Message(text("Allow::lengths: item ", &length - lengths.data(), " has length ", length,
                                    ", with ", S, " keys"))
                           .rule("a length counts the first keys of an item that are no padding: 0 .. S")
                           .hint("count them without the padding, or pad all items to the longest"));
    }
    for (int64_t s = 0; s < S; s++) flags.push_back(s < length);
  }
  return Allow({int64_t(lengths.size()), 1, 1, S}, std::move(flags));
}

Allow operator&(const Allow& a, const Allow& b) {
  // Broadcasting lives on tensors; masks are small, so they borrow it through their shapes.
  const Shape shape = broadcast_shape("Allow &", Tensor::uncleared(a.shape_).named("left"),
                                      Tensor::uncleared(b.shape_).named("right"));
  const BroadcastRows rows(a.shape_, b.shape_, shape);
  std::vector<unsigned char> flags(size_t(element_count(shape)));
  for (int64_t r = 0; r < rows.rows; r++) {
    for (int64_t i = 0; i < rows.length; i++) {
      flags[size_t(r * rows.length + i)] = a.flags_[size_t(rows.a_start(r) + i * rows.a_step)] &&
                                           b.flags_[size_t(rows.b_start(r) + i * rows.b_step)];
    }
  }
  return Allow(shape, std::move(flags));
}

// A mask is [T, S], the same for every matrix, or has the rank of the scores with each size equal or 1. A
// mask of another rank is refused: without its head axis it would silently meet the wrong one.
void expect_mask_fits(const char* op, const char* kind, const Shape& mask, const Tensor& x) {
  const bool rank_fits = mask.size() == 2 || mask.size() == size_t(x.rank());
  bool fits = rank_fits && x.rank() >= 2;
  for (size_t i = 0; fits && i < mask.size(); i++) {
    const int64_t size = x.shape()[x.shape().size() - mask.size() + i];
    fits = mask[i] == size || (mask[i] == 1 && mask.size() == size_t(x.rank()));
  }
  if (fits) return;
  Message message(text(op, ": ", kind, " ", to_text(mask), " does not fit scores ", to_text(x.shape())));
  add_tensor(message, "scores", x);
  message.rule("a mask is [T, S], or has the rank of the scores, each size equal to theirs or 1");
  if (mask.size() == 3 && x.rank() == 4) {
    message.hint(
        text("one mask per item needs a head axis: reshape it to ", to_text({mask[0], 1, mask[1], mask[2]})));
  }
  if (mask.size() == 2 && x.rank() == 4 && mask[0] == x.dim(0) && mask[1] == x.dim(3)) {
    message.hint(text("for the keys that each item has: Allow::lengths, or reshape it to ",
                      to_text({mask[0], 1, 1, mask[1]})));
  }
  throw ShapeError(message);
}

}  // namespace headway

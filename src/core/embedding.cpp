// Ops that pick: rows of a table, and which numbers dropout keeps.
#include <algorithm>

#include "core/node.h"
#include "core/ops.h"

namespace headway {

namespace {
void embedding_backward(Node& y) {  // the gradient of row i is added to row ids[i] of the table
  const int64_t width = y.parent_shape(0)[1];
  const Scalar* dy = y.grad_data();
  Scalar* dtable = y.parent_grad(0);
  for (size_t i = 0; i < y.ints.size(); i++) {
    const Scalar* dy_i = dy + int64_t(i) * width;
    Scalar* dtable_i = dtable + y.ints[i] * width;
    for (int64_t j = 0; j < width; j++) dtable_i[j] += dy_i[j];
  }
}
}  // namespace

Tensor embedding(const Tensor& table, const std::vector<int>& ids, const Shape& ids_shape) {
  if (table.rank() != 2 || element_count(ids_shape) != int64_t(ids.size())) {
    throw ShapeError(
        Message(text("embedding: ", ids.size(), " ids in shape ", to_text(ids_shape), " cannot be looked up"))
            .tensor("table", table.name(), table.shape())
            .rule("the table is [V, D], and the shape of the ids holds exactly the ids"));
  }
  const int64_t count = table.dim(0), width = table.dim(1);
  Shape shape = ids_shape;
  shape.push_back(width);
  Result y("embedding", shape, {table}, embedding_backward);
  for (size_t i = 0; i < ids.size(); i++) {
    if (ids[i] < 0 || ids[i] >= count) {
      throw ValueError(
          Message(
              text("embedding: id ", ids[i], " at position ", i, " is outside the table of ", count, " rows"))
              .tensor("table", table.name(), table.shape())
              .rule(text("ids run from 0 to ", count - 1))
              .hint("is the vocabulary too small, or the sequence longer than the position table?"));
    }
    std::copy_n(table.data() + ids[i] * width, width, y.data() + int64_t(i) * width);
  }
  y.ints(ids);
  return y.done();
}

namespace {
void dropout_backward(Node& y) {  // the same numbers are kept and scaled
  const Scalar *kept = y.saved[0].data(), *dy = y.grad_data();
  Scalar* dx = y.parent_grad(0);
  for (int64_t i = 0; i < y.size(); i++) dx[i] += dy[i] * kept[i];
}
}  // namespace

Tensor dropout(const Tensor& x, Scalar p, Random& random) {
  if (!(p >= 0 && p < 1)) {
    throw ValueError(Message(text("dropout: probability ", p, " is not in 0 <= p < 1"))
                         .tensor("x", x.name(), x.shape())
                         .rule("p is the share of numbers set to 0; the rest is divided by 1 - p"));
  }
  Tensor kept = Tensor::uncleared(x.shape());
  for (Scalar& k : kept.mutable_values()) k = random.uniform() < p ? 0 : 1 / (1 - p);
  Result y("dropout", x.shape(), {x}, dropout_backward);
  for (int64_t i = 0; i < x.size(); i++) y.data()[i] = x.data()[i] * kept.data()[i];
  y.save(kept);
  return y.done();
}

}  // namespace headway

// The matrix product, batched. Its inner loop is matrix_product (kernels.h, order (a)).
#include "core/broadcast.h"
#include "core/kernels.h"
#include "core/node.h"
#include "core/ops.h"
#include "core/parallel.h"

namespace headway {

namespace {

// One matmul as a list of equal matrix products: product i reads matrix a_at(i) of a and b_at(i) of b.
struct Batch {
  int64_t M, N, K, count = 1;
  BroadcastRows rows;

  // y: shape of the result, [..., M, N]
  Batch(const Shape& a, const Shape& b, const Shape& y)
      : M(a[a.size() - 2]), N(b.back()), K(a.back()), rows(leading(a, b), leading(b, b), leading(y, b)) {
    const int64_t products = element_count(Shape(y.begin(), y.end() - 2));
    // One right side for all: the rows of every batch item in a single product.
    (b.size() == 2 ? M : count) *= products;
  }
  // The axes that count products: none where b serves all of them.
  static Shape leading(const Shape& shape, const Shape& b) {
    return b.size() == 2 ? Shape() : Shape(shape.begin(), shape.end() - 2);
  }
  int64_t a_at(int64_t i) const { return rows.a_start(i / rows.length) + i % rows.length * rows.a_step; }
  int64_t b_at(int64_t i) const { return rows.b_start(i / rows.length) + i % rows.length * rows.b_step; }
  // How many products one thread should do at least: about 100,000 multiply-adds.
  int64_t grain() const { return 1 + 100000 / (1 + M * N * K); }
};

void matmul_backward(Node& y) {
  const Saved &a = y.saved[0], &b = y.saved[1];
  const Batch batch(a.shape, b.shape, y.shape);
  const int64_t M = batch.M, N = batch.N, K = batch.K;
  const Scalar* dy = y.grad_data();
  // A matrix that serves several products collects from them in order, so those are not shared between
  // threads.
  if (y.parents[0]) {  // da = dy b^T
    const bool shared = batch.count * M * K != a.size();
    const GradientSum da = shared ? GradientSum{y.parent_grad(0), false} : y.parent_sum(0);
    parallel_for(batch.count, shared ? batch.count : batch.grain(), [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; i++) {
        matrix_product(M, K, N, {dy + i * M * N, N, 1}, {b.data() + batch.b_at(i) * K * N, 1, N},
                       da.data + batch.a_at(i) * M * K, !da.is_new);
      }
    });
  }
  if (y.parents[1]) {  // db = a^T dy
    const bool shared = batch.count * K * N != b.size();
    const GradientSum db = shared ? GradientSum{y.parent_grad(1), false} : y.parent_sum(1);
    parallel_for(batch.count, shared ? batch.count : batch.grain(), [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; i++) {
        matrix_product(K, N, M, {a.data() + batch.a_at(i) * M * K, 1, K}, {dy + i * M * N, N, 1},
                       db.data + batch.b_at(i) * K * N, !db.is_new);
      }
    });
  }
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  axis_index("matmul", -2, a);  // both need two axes
  axis_index("matmul", -2, b);
  if (a.dim(-1) != b.dim(-2)) {
    Message message(text("matmul: inner dimensions ", a.dim(-1), " and ", b.dim(-2), " differ"));
    message.tensor("a", a.name(), a.shape()).tensor("b", b.name(), b.shape());
    message.rule("[..., M, K] times [..., K, N] gives [..., M, N]");
    if (a.dim(-1) == b.dim(-1)) message.hint("matmul(a, transpose(b)) would fit");
    throw ShapeError(message);
  }
  Shape shape = broadcast_shape("matmul", a, b, 2);
  shape.insert(shape.end(), {a.dim(-2), b.dim(-1)});
  const Batch batch(a.shape(), b.shape(), shape);
  const int64_t M = batch.M, N = batch.N, K = batch.K;
  Result y("matmul", shape, {a, b}, matmul_backward);
  Scalar* out = y.data();
  parallel_for(batch.count, batch.grain(), [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; i++) {
      matrix_product(M, N, K, {a.data() + batch.a_at(i) * M * K, K, 1},
                     {b.data() + batch.b_at(i) * K * N, N, 1}, out + i * M * N, false);
    }
  });
  y.save(a);
  y.save(b);
  return y.done();
}

}  // namespace headway

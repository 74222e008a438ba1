// The matrix product, batched. Its inner loop is matrix_product (kernels.h, order (a)).
#include "core/broadcast.h"
#include "core/elementwise.h"
#include "core/kernels.h"
#include "core/ops.h"

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
    if (b.size() == 2)
      M *= products;  // one right side for all: the rows of every batch item in a single product
    else
      count = products;
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

void multiply(const Batch& batch, const Scalar* a, const Scalar* b, Scalar* y) {
  const int64_t M = batch.M, N = batch.N, K = batch.K;
  parallel_for(batch.count, batch.grain(), [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; i++) {
      matrix_product(M, N, K, {a + batch.a_at(i) * M * K, K, 1}, {b + batch.b_at(i) * K * N, N, 1},
                     y + i * M * N, false);
    }
  });
}

// A vector is no matrix. Which of the two it was meant for is not guessed.
void refuse_vector(const Tensor& a, const Tensor& b) {
  if (a.rank() >= 2 && b.rank() >= 2) return;
  const std::string of_a = a.rank() == 1 ? text("a row: reshape(a, {1, ", a.size(), "})") : "";
  const std::string of_b = b.rank() == 1 ? text("a column: reshape(b, {", b.size(), ", 1})") : "";
  Message message(text("matmul: ", a.rank() < 2 ? "a" : "b", " has ", a.rank() < 2 ? a.rank() : b.rank(),
                       " axes, and a matrix has two"));
  message.tensor("a", a.name(), a.shape()).tensor("b", b.name(), b.shape());
  message.rule(
      "[..., M, K] times [..., K, N] gives [..., M, N]; a vector is not taken for a row or a column");
  if (!of_a.empty() || !of_b.empty())
    message.hint(text("make it ", of_a, !of_a.empty() && !of_b.empty() ? ", or " : "", of_b));
  throw ShapeError(message);
}

// The shape of a times b.
Shape product_shape(const Tensor& a, const Tensor& b) {
  refuse_vector(a, b);
  if (a.dim(-1) != b.dim(-2)) {
    Message message(text("matmul: inner dimensions ", a.dim(-1), " and ", b.dim(-2), " differ"));
    message.tensor("a", a.name(), a.shape()).tensor("b", b.name(), b.shape());
    message.rule("[..., M, K] times [..., K, N] gives [..., M, N]");
    if (a.dim(-1) == b.dim(-1)) message.hint("matmul(a, transpose(b)) would fit");
    throw ShapeError(message);
  }
  Shape shape = broadcast_shape("matmul", a, b, 2);
  shape.insert(shape.end(), {a.dim(-2), b.dim(-1)});
  return shape;
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  const Shape shape = product_shape(a, b);
  Result y("matmul", shape, {a, b}, matmul_backward);
  multiply(Batch(a.shape(), b.shape(), shape), a.data(), b.data(), y.data());
  y.save(a);
  y.save(b);
  return y.done();
}

namespace {
void linear_backward(Node& y) {  // as matmul;   dbias = sum over rows of dy
  matmul_backward(y);
  const int64_t N = y.shape.back();
  if (y.parents[2]) add_column_sums(y.grad_data(), N == 0 ? 0 : y.size() / N, N, y.parent_grad(2));
}
}  // namespace

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const Shape shape = product_shape(x, weight);
  const int64_t N = shape.back();
  if (weight.rank() != 2 || bias.shape() != Shape{N}) {
    throw ShapeError(Message("linear: the weight must be a matrix, with one bias for each of its columns")
                         .tensor("weight", weight.name(), weight.shape())
                         .tensor("bias", bias.name(), bias.shape())
                         .rule("x [..., K], weight [K, N], bias [N]"));
  }
  Result y("linear", shape, {x, weight, bias}, linear_backward);
  Scalar* out = y.data();
  multiply(Batch(x.shape(), weight.shape(), shape), x.data(), weight.data(), out);
  const Scalar* b = bias.data();
  parallel_for(N == 0 ? 0 : y.size() / N, 1 + elements_per_thread / (N + 1), [=](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; r++) {
      Scalar* out_r = out + r * N;
      for (int64_t j = 0; j < N; j++) out_r[j] += b[j];
    }
  });
  y.save(x);
  y.save(weight);
  return y.done();
}

}  // namespace headway

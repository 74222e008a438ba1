// A tensor: numbers in a row, plus a shape. Row-major, contiguous, never a view of another
// (several handles may hold the same numbers, in the same shape).
// reshape keeps the order of the numbers, permute changes it; everything else follows from that.
//
// Shapes are written with one key everywhere: B batch, T query tokens, S key tokens, D model width, h heads,
// d_h head width (D / h), V vocabulary, F MLP width.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/buffer.h"
#include "core/error.h"
#include "core/random.h"

namespace headway {

struct Node;

// The numbers of a tensor, shared by its handles and by the ops that saved it for their backward.
struct Storage {
  explicit Storage(int64_t count) : numbers(count) {}
  Buffer numbers;
  std::string name;
  int version = 0;           // raised by every write: through mutable_values(), and into a gradient
  bool is_gradient = false;  // a backward adds to it
};

// A handle: copying it copies no number.
class Tensor {
public:
  Tensor() = default;  // no tensor at all: `defined()` is false

  // Room for numbers that are still to be written (the debug and the asan build fill it with NaN).
  static Tensor uncleared(const Shape& shape) { return Tensor(shape); }
  static Tensor zeros(const Shape& shape) { return full(shape, 0); }
  static Tensor full(const Shape& shape, Scalar value);
  static Tensor from(const Shape& shape, std::span<const Scalar> values);  // ShapeError if the counts differ
  static Tensor from(const Shape& shape, std::initializer_list<Scalar> values);
  static Tensor uniform(const Shape& shape, Scalar low, Scalar high, Random& random);

  bool defined() const { return storage_ != nullptr; }
  const Shape& shape() const { return shape_; }
  int rank() const { return int(shape_.size()); }
  int64_t size() const { return storage_ ? storage_->numbers.size() : 0; }
  int64_t dim(int axis) const;  // axis -1 is the last; ShapeError beyond
  const Scalar* data() const { return storage().numbers.data(); }
  std::span<const Scalar> values() const { return {data(), size_t(size())}; }
  Scalar at(std::initializer_list<int64_t> index) const;  // one number; ShapeError outside
  Scalar item() const;                                    // the only number; ShapeError if there are more

  // For writing in place, in the order of memory. ValueError for the result of an op that has a history: its
  // backward may still read it.
  std::span<Scalar> mutable_values();

  // A name for messages and for show(). Returns the tensor, so that a line can end in .named("tokens").
  Tensor named(std::string name) const;
  const std::string& name() const { return storage().name; }

  // Autodiff: see node.h.
  Tensor requires_grad() const;  // a handle on the same numbers that collects a gradient
  Tensor detach() const;         // a handle on the same numbers without history
  bool has_node() const { return node_ != nullptr; }
  Tensor
  grad() const;  // the gradient, shape of the tensor; zeros before any backward; ValueError without a node
  bool has_grad() const;  // has a backward reached it since its gradient was last dropped?
  void zero_grad() const;
  void backward() const;  // see node.h

private:
  friend struct Node;
  friend class Result;
  explicit Tensor(Shape shape);
  Storage& storage() const;  // ValueError if there is no tensor at all
  Shape shape_;
  std::shared_ptr<Storage> storage_;
  std::shared_ptr<Node> node_;  // how it was made and its gradient; null for a constant
};

// Throws ShapeError, naming `name`, unless t has this shape: a shape comment that is executed.
void expect_shape(const Tensor& t, const char* name, const Shape& shape);

// Turns an axis counted from the end into one counted from the front; ShapeError outside -rank .. rank-1.
int axis_index(const char* op, int axis, const Tensor& x);

// The line of a message that names a tensor.
inline void add_tensor(Message& message, const char* role, const Tensor& t) {
  message.tensor(role, t.name(), t.shape());
}

}  // namespace headway

#include "core/tensor.h"

#include <algorithm>

#include "core/node.h"

namespace headway {

Tensor::Tensor(Shape shape)
    : shape_(std::move(shape)), storage_(std::make_shared<Storage>(element_count(shape_))) {}

Tensor Tensor::full(const Shape& shape, Scalar value) {
  Tensor t = uncleared(shape);
  std::fill_n(t.storage_->numbers.data(), t.size(), value);
  return t;
}

Tensor Tensor::from(const Shape& shape, std::span<const Scalar> values) {
  if (element_count(shape) != int64_t(values.size())) {
    throw ShapeError(Message(text("Tensor::from: shape ", to_text(shape), " holds ", element_count(shape),
                                  " numbers, but ", values.size(), " were given"))
                         .rule("the sizes multiplied give the count of numbers")
                         .hint("count the rows of the list, or change the shape"));
  }
  Tensor t = uncleared(shape);
  std::copy(values.begin(), values.end(), t.storage_->numbers.data());
  return t;
}

Tensor Tensor::from(const Shape& shape, std::initializer_list<Scalar> values) {
  return from(shape, std::span<const Scalar>(values.begin(), values.size()));
}

Tensor Tensor::uniform(const Shape& shape, Scalar low, Scalar high, Random& random) {
  Tensor t = uncleared(shape);
  for (Scalar& x : t.mutable_values()) x = random.uniform(low, high);
  return t;
}

int64_t Tensor::dim(int axis) const { return shape_[size_t(axis_index("dim", axis, *this))]; }

Storage& Tensor::storage() const {
  if (storage_) return *storage_;
  throw ValueError(Message("there is no tensor here: a Tensor() was never given numbers")
                       .rule("only defined() may be asked of it")
                       .hint("make one with Tensor::zeros, Tensor::full or Tensor::from"));
}

Scalar Tensor::at(std::initializer_list<int64_t> index) const {
  int64_t offset = 0;
  bool inside = index.size() == shape_.size();
  for (size_t i = 0; inside && i < shape_.size(); i++) {
    const int64_t k = index.begin()[i];
    inside = k >= 0 && k < shape_[i];
    offset = offset * shape_[i] + k;
  }
  if (!inside) {
    throw ShapeError(Message(text("at: there is no number at ", to_text(Shape(index))))
                         .tensor("x", name(), shape_)
                         .rule("one index per axis, each from 0 to size - 1"));
  }
  return data()[offset];
}

Scalar Tensor::item() const {
  if (size() != 1) {
    throw ShapeError(Message(text("item: the tensor has ", size(), " numbers, not 1"))
                         .tensor("x", defined() ? name() : "", shape_)
                         .rule("item() reads the only number of a tensor")
                         .hint("read one of many with at({...}), or reduce with sum or mean first"));
  }
  return data()[0];
}

std::span<Scalar> Tensor::mutable_values() {
  if (node_ && node_->backward) {
    throw ValueError(Message(text("mutable_values: '", name(), "' is the result of ", node_->op,
                                  ", and a backward may still read it"))
                         .tensor("x", name(), shape_)
                         .rule("only tensors that no op made may be written in place")
                         .hint("make a new tensor (y = y + x), or write into x.detach() after backward"));
  }
  storage().version++;
  return {storage_->numbers.data(), size_t(size())};
}

Tensor Tensor::named(std::string name) const {
  storage().name = std::move(name);
  return *this;
}

Tensor Tensor::requires_grad() const {
  Tensor t = detach();
  t.node_ = std::make_shared<Node>(shape_, "leaf", nullptr);
  return t;
}

Tensor Tensor::detach() const {
  Tensor t = *this;
  t.node_ = nullptr;
  return t;
}

void expect_shape(const Tensor& t, const char* name, const Shape& shape) {
  if (t.shape() == shape) return;
  throw ShapeError(
      Message(text(name, " should have shape ", to_text(shape), ", but has ", to_text(t.shape())))
          .tensor(name, t.name(), t.shape())
          .rule("a shape comment is a promise"));
}

int axis_index(const char* op, int axis, const Tensor& x) {
  const int index = axis < 0 ? axis + x.rank() : axis;
  if (index < 0 || index >= x.rank()) {
    throw ShapeError(Message(text(op, ": axis ", axis, " does not exist in a tensor of rank ", x.rank()))
                         .tensor("x", x.name(), x.shape())
                         .rule(text("axes run from 0 to rank - 1, or from -1 (the last) to -rank")));
  }
  return index;
}

}  // namespace headway

// Reverse-mode autodiff. Each op leaves a node: which tensors it came from, what its backward needs, and a
// plain pointer to that backward. backward() walks the nodes in reverse and adds.
//
//   Tensor w = Tensor::from({2}, {3, 4}).requires_grad();
//   Tensor loss = sum(w * w);                                     // []
//   loss.backward();                                              // w.grad() is {6, 8}
#pragma once

#include <algorithm>

#include "core/tensor.h"

namespace headway {

using Backward = void (*)(Node& result);

// A tensor that a backward reads. The version tells whether somebody wrote into it in between.
struct Saved {
  Shape shape;
  std::shared_ptr<Storage> storage;
  int version;
  const Scalar* data() const { return storage->numbers.data(); }
  int64_t size() const { return storage->numbers.size(); }
};

// A gradient that an op adds to, part by part. Clearing all of a new one first would send it to memory and
// back; so a part is cleared when the op comes to it, and is then still in the nearest cache.
struct GradientSum {
  Scalar* data;  // null where no gradient is wanted
  bool is_new;   // nothing was added before: what stands there is no number yet

  // Numbers from .. to-1, to be added to at [0] .. [to-from-1].
  Scalar* part(int64_t from, int64_t to) const {
    if (is_new) std::fill(data + from, data + to, Scalar(0));
    return data + from;
  }
};

// Parents keep nodes alive, not numbers: numbers that no handle and no `saved` needs go back to the pool.
// A node points to nothing that points back, so there are no cycles and counting references frees everything.
struct Node {
  Node(Shape s, const char* op_name, Backward b);
  ~Node();  // iterative: a chain of a million nodes must not overflow the stack
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  const Scalar* grad_data();         // dy, the gradient of the result
  Scalar* parent_grad(size_t i);     // dx, to be added to; null where no gradient is wanted
  GradientSum parent_sum(size_t i);  // the same for an op that takes every part of dx
  const Shape& parent_shape(size_t i) { return parents[i]->shape; }
  int64_t size() const { return count; }

  Shape shape;
  int64_t count;                  // of numbers in the result
  std::shared_ptr<Storage> grad;  // made when first needed
  std::vector<std::shared_ptr<Node>> parents;
  std::vector<Saved> saved;
  std::vector<int> ints;        // axes, starts, token ids
  std::vector<Scalar> scalars;  // constants and statistics
  const char* op;
  Backward backward;
  bool walked = false;  // backward has been here: its history is gone
  bool seen = false;    // used while ordering
};

// A tensor that an op reads, not copied.
struct Input {
  Input(const Tensor& t) : tensor(&t) {}
  const Tensor* tensor;
};

// Makes the result of an op and, where a parent has a gradient and recording is on, its node.
//
//   Result y("scale", x.shape(), {x}, scale_backward);            // same shape as x
//   ... write y.data() ...
//   y.scalars({factor});                                            // ignored when nothing is recorded
//   return y.done();
class Result {
public:
  Result(const char* op, const Shape& shape, std::initializer_list<Input> inputs, Backward backward)
      : Result(op, shape, std::span<const Input>(inputs.begin(), inputs.size()), backward) {}
  Result(const char* op, const Shape& shape, std::span<const Input> inputs, Backward backward);

  Scalar* data() { return tensor_.storage_->numbers.data(); }
  int64_t size() const { return tensor_.size(); }
  bool recorded() const { return tensor_.node_ != nullptr; }
  void save(const Tensor& t);
  void save_self() { save(tensor_); }
  void ints(std::vector<int> values);
  void scalars(std::vector<Scalar> values);
  Tensor done();  // in checking mode (WatchForNaN) throws ValueError for a NaN, naming the op and its inputs

private:
  Tensor tensor_;
  std::vector<Tensor> inputs_;  // for the message of done(), only in checking mode
};

// While one of these lives, ops leave no nodes: evaluation and generation need no history.
class NoGrad {
public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

private:
  bool before_;
};

// While one of these lives, every op looks for NaN in its result and names itself if it made the first one.
class WatchForNaN {
public:
  WatchForNaN();
  ~WatchForNaN();
  WatchForNaN(const WatchForNaN&) = delete;
  WatchForNaN& operator=(const WatchForNaN&) = delete;
};

// How many nodes exist. After a training step: one per parameter.
int64_t live_nodes();

}  // namespace headway

#include "core/node.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"

namespace headway {

namespace {
int64_t node_count = 0;
bool recording = true;
int checking = 0;

std::shared_ptr<Storage> zero_storage(int64_t count) {
  auto zeros = std::make_shared<Storage>(count);
  zeros->is_gradient = true;
  Scalar* const data = zeros->numbers.data();
  parallel_for(count, elements_per_thread,
               [=](int64_t from, int64_t to) { std::fill(data + from, data + to, Scalar(0)); });
  return zeros;
}
}  // namespace

Node::Node(Shape s, const char* op_name, Backward b)
    : shape(std::move(s)), count(element_count(shape)), op(op_name), backward(b) {
  node_count++;
}

Node::~Node() {
  node_count--;
  // Where this was the last reference to a parent, take over the parent's parents before it is destroyed.
  std::vector<std::shared_ptr<Node>> orphans = std::move(parents);
  while (!orphans.empty()) {
    std::shared_ptr<Node> node = std::move(orphans.back());
    orphans.pop_back();
    if (node.use_count() == 1) {
      for (auto& parent : node->parents) {
        if (parent) orphans.push_back(std::move(parent));
      }
      node->parents.clear();
    }
  }
}

const Scalar* Node::grad_data() { return grad->numbers.data(); }

Scalar* Node::parent_grad(size_t i) {
  Node* parent = parents[i].get();
  if (!parent) return nullptr;
  if (!parent->grad) parent->grad = zero_storage(parent->size());
  parent->grad->version++;
  return parent->grad->numbers.data();
}

GradientSum Node::parent_sum(size_t i) {
  Node* parent = parents[i].get();
  if (!parent) return {nullptr, false};
  const bool is_new = !parent->grad;
  if (is_new) parent->grad = std::make_shared<Storage>(parent->size());
  parent->grad->is_gradient = true;
  parent->grad->version++;
  return {parent->grad->numbers.data(), is_new};
}

Tensor Tensor::grad() const {
  if (!node_) {
    throw ValueError(Message(text("grad: '", name(), "' collects no gradient"))
                         .tensor("x", name(), shape_)
                         .rule("a gradient is kept for parameters, and for results made from them")
                         .hint("make the leaf with .requires_grad(), outside of NoGrad"));
  }
  Tensor g;
  g.shape_ = shape_;
  if (!node_->grad) node_->grad = zero_storage(size());
  g.storage_ = node_->grad;
  return g.named("grad of " + name());
}

bool Tensor::has_grad() const { return node_ && node_->grad; }

void Tensor::zero_grad() const {
  if (!node_ || !node_->grad) return;
  if (node_->grad.use_count() == 1) {
    node_->grad = nullptr;  // no handle looks at it: grad() makes zeros again when asked
  } else {
    std::fill_n(node_->grad->numbers.data(), size(), Scalar(0));
    node_->grad->version++;
  }
}

namespace {

// All nodes that `root` came from, parents before children. Iterative, with a stack of its own.
std::vector<std::shared_ptr<Node>> ordered(const std::shared_ptr<Node>& root) {
  struct Visit {
    std::shared_ptr<Node> node;
    size_t next_parent;
  };
  std::vector<std::shared_ptr<Node>> order;
  std::vector<Visit> stack = {{root, 0}};
  root->seen = true;
  while (!stack.empty()) {
    Visit& top = stack.back();
    if (top.next_parent == top.node->parents.size()) {
      order.push_back(std::move(top.node));
      stack.pop_back();
      continue;
    }
    std::shared_ptr<Node> parent = top.node->parents[top.next_parent++];
    if (parent && !parent->seen) {
      parent->seen = true;
      stack.push_back({std::move(parent), 0});
    }
  }
  for (auto& node : order) node->seen = false;
  return order;
}

void refuse_bad_root(const Tensor& root) {
  if (!root.has_node()) {
    throw ValueError(
        Message(text("backward: '", root.name(), "' does not depend on any tensor with a gradient"))
            .tensor("loss", root.name(), root.shape())
            .rule("backward starts from a result of tensors made with .requires_grad()")
            .hint("was it computed inside NoGrad, or from constants only?"));
  }
  if (root.size() != 1) {
    throw ShapeError(Message(text("backward: the loss has ", root.size(), " numbers, not 1"))
                         .tensor("loss", root.name(), root.shape())
                         .rule("backward starts from a single number, usually a mean")
                         .hint("reduce it first: mean(loss).backward() or sum(loss).backward()"));
  }
}

void refuse_walked(const std::vector<std::shared_ptr<Node>>& order) {
  for (auto& node : order) {
    if (!node->walked) continue;
    throw ValueError(
        Message(text("backward: it has already walked through this ", node->op, "; its history is gone"))
            .fact(text("result of ", node->op, "  ", to_text(node->shape)))
            .rule("one graph, one backward: the second would add stale gradients")
            .hint("compute the loss again; gradients then add up until zero_grad"));
  }
}

// What a node saved must still be as it was, and must not be a gradient that this walk adds to.
void refuse_overwritten(const std::vector<std::shared_ptr<Node>>& order) {
  const auto refuse = [](const Saved& s, const std::string& what, const char* hint) {
    throw ValueError(Message("backward: " + what)
                         .tensor("saved", s.storage->name, s.shape)
                         .rule("what a backward reads must be what its forward read")
                         .hint(hint));
  };
  for (auto& node : order) {
    for (const Saved& s : node->saved) {
      if (s.version != s.storage->version) {
        refuse(s, text("'", s.storage->name, "' was written to after ", node->op, " had read it"),
               "call backward before the optimiser step or any other writing in place");
      }
      const auto adds = [&](const std::shared_ptr<Node>& other) { return other->grad == s.storage; };
      if (s.storage->is_gradient && std::any_of(order.begin(), order.end(), adds)) {
        refuse(s, text(node->op, " reads '", s.storage->name, "', which this backward adds to"),
               "read a copy of the gradient: Tensor::from(g.shape(), g.values())");
      }
    }
  }
}

}  // namespace

void Tensor::backward() const {
  refuse_bad_root(*this);
  std::vector<std::shared_ptr<Node>> order = ordered(node_);
  refuse_walked(order);
  refuse_overwritten(order);
  if (!node_->grad) node_->grad = zero_storage(1);
  node_->grad->numbers.data()[0] += 1;
  while (!order.empty()) {
    std::shared_ptr<Node> node = std::move(order.back());
    order.pop_back();
    if (!node->backward) continue;          // a leaf: its gradient stays
    if (node->grad) node->backward(*node);  // else nothing has reached it
    // What it needed is done with: numbers go back to the pool, and so does its gradient unless a handle
    // holds it.
    node->parents.clear();
    node->saved.clear();
    node->walked = true;
  }
}

Result::Result(const char* op, const Shape& shape, std::span<const Input> inputs, Backward backward)
    : tensor_(shape) {
  tensor_.storage_->name = op;
  bool wanted = false;
  for (const Input& input : inputs) {
    wanted = wanted || input.tensor->node_;
    if (checking) inputs_.push_back(*input.tensor);
  }
  if (!wanted || !recording) return;
  tensor_.node_ = std::make_shared<Node>(shape, op, backward);
  for (const Input& input : inputs) tensor_.node_->parents.push_back(input.tensor->node_);
}

void Result::save(const Tensor& t) {
  if (recorded()) tensor_.node_->saved.push_back({t.shape_, t.storage_, t.storage_->version});
}

void Result::ints(std::vector<int> values) {
  if (recorded()) tensor_.node_->ints = std::move(values);
}

void Result::scalars(std::vector<Scalar> values) {
  if (recorded()) tensor_.node_->scalars = std::move(values);
}

namespace {
// Where the first NaN of t stands; its size if there is none.
int64_t first_nan(const Tensor& t) {
  int64_t i = 0;
  while (i < t.size() && !std::isnan(t.data()[i])) i++;
  return i;
}
}  // namespace

Tensor Result::done() {
  const int64_t at = checking ? first_nan(tensor_) : tensor_.size();
  if (at == tensor_.size()) return std::move(tensor_);
  const std::string& op = tensor_.name();
  for (const Tensor& input : inputs_) {
    if (first_nan(input) == input.size()) continue;
    throw ValueError(
        Message(text("the first NaN stands in '", input.name(), "', which ", op, " reads"))
            .tensor("input", input.name(), input.shape())
            .rule("no op has made it: it was there before")
            .hint("look at the step before: a rate that is too high, or a loss that was already inf"));
  }
  Message message(text(op, " made the first NaN, at position ", at, " of its result"));
  message.tensor("result", op, tensor_.shape());
  for (const Tensor& input : inputs_) add_tensor(message, "input", input);
  throw ValueError(
      message.rule("no input was NaN, the result is")
          .hint("look for inf - inf, 0 / 0, the log or sqrt of a negative number, or a learning rate "
                "that is too high"));
}

NoGrad::NoGrad() : before_(recording) { recording = false; }
NoGrad::~NoGrad() { recording = before_; }

WatchForNaN::WatchForNaN() { checking++; }
WatchForNaN::~WatchForNaN() { checking--; }

int64_t live_nodes() { return node_count; }

}  // namespace headway

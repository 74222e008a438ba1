#include "nn/module.h"

#include <cmath>

namespace headway {

void append(Parameters& to, const std::string& prefix, const Parameters& from) {
  for (const Parameter& p : from) to.push_back({prefix + "." + p.name, p.tensor});
}

void name_tensors(const Parameters& parameters) {
  for (const Parameter& p : parameters) p.tensor.named(p.name);
}

std::vector<Tensor> tensors(const Parameters& parameters) {
  std::vector<Tensor> out;
  for (const Parameter& p : parameters) out.push_back(p.tensor);
  return out;
}

int64_t count(const Parameters& parameters) {
  int64_t numbers = 0;
  for (const Parameter& p : parameters) numbers += p.tensor.size();
  return numbers;
}

Linear::Linear(int64_t in, int64_t out, bool with_bias, Random& random) {
  if (in < 1 || out < 1) {
    throw ShapeError(Message(text("Linear: a layer from ", in, " to ", out, " numbers is no layer"))
                         .rule("in and out are at least 1")
                         .hint("is a width left at 0, such as mlp_dim or embed_dim?"));
  }
  const Scalar bound = 1 / std::sqrt(Scalar(in));
  weight = Tensor::uniform({in, out}, -bound, bound, random).named("weight").requires_grad();  // [in, out]
  if (with_bias) bias = Tensor::uniform({out}, -bound, bound, random).named("bias").requires_grad();  // [out]
}

Tensor Linear::operator()(const Tensor& x) const {
  if (x.rank() < 2 || x.dim(-1) != weight.dim(0)) {
    throw ShapeError(Message(text("Linear: x has rows of ", x.rank() ? x.dim(-1) : 0, " numbers, ",
                                  weight.name(), " takes ", weight.dim(0)))
                         .tensor("x", x.name(), x.shape())
                         .tensor("weight", weight.name(), weight.shape())
                         .rule("x [..., in] times weight [in, out] gives [..., out]"));
  }
  return bias.defined() ? linear(x, weight, bias) : matmul(x, weight);  // [..., out]
}

Parameters Linear::parameters() const {
  Parameters p = {{"weight", weight}};
  if (bias.defined()) p.push_back({"bias", bias});
  return p;
}

Embedding::Embedding(int64_t count, int64_t width, Random& random) {
  if (count < 1 || width < 1) {
    throw ShapeError(
        Message(text("Embedding: a table of ", count, " rows of ", width, " numbers holds nothing"))
            .rule("rows and width are at least 1")
            .hint("is a size left at 0, such as vocab_size, context or embed_dim?"));
  }
  const Scalar bound = std::sqrt(Scalar(3));  // U(-b, b) has variance b^2 / 3
  weight = Tensor::uniform({count, width}, -bound, bound, random).named("weight").requires_grad();
}

Tensor Embedding::operator()(const std::vector<int>& ids, const Shape& ids_shape) const {
  return embedding(weight, ids, ids_shape);  // ids_shape + [width]
}

LayerNorm::LayerNorm(int64_t width)
    : weight(Tensor::full({width}, 1).named("weight").requires_grad()),
      bias(Tensor::zeros({width}).named("bias").requires_grad()) {}

MLP::MLP(int64_t width, int64_t hidden, Activation a, Random& random)
    : linear1(width, hidden, true, random), linear2(hidden, width, true, random), activation(a) {}

Tensor MLP::operator()(const Tensor& x) const {
  const Tensor hidden = linear1(x);  // [..., F]
  switch (activation) {
  case Activation::relu:
    return linear2(relu(hidden));
  case Activation::gelu_erf:
    return linear2(gelu_erf(hidden));
  case Activation::gelu_tanh:
    break;
  }
  return linear2(gelu_tanh(hidden));  // [..., D]
}

Parameters MLP::parameters() const {
  Parameters p;
  append(p, "linear1", linear1.parameters());
  append(p, "linear2", linear2.parameters());
  return p;
}

}  // namespace headway

// The layers with parameters. A layer holds handles: copying a layer copies no number, both copies train
// together.
#pragma once

#include <string>
#include <vector>

#include "core/ops.h"

namespace headway {

struct Parameter {
  std::string name;  // as in PyTorch's state_dict: "blocks.0.attn.q_proj.weight"
  Tensor tensor;
};
using Parameters = std::vector<Parameter>;

// Appends the parameters of a layer under "prefix."; used by every layer's parameters().
void append(Parameters& to, const std::string& prefix, const Parameters& from);

// Gives every tensor its full name, for messages. A model does this once, when it is made.
void name_tensors(const Parameters& parameters);

std::vector<Tensor> tensors(const Parameters& parameters);
int64_t count(const Parameters& parameters);  // how many numbers

// y = x W + b.   x [..., in] -> y [..., out]
// The weight stands as [in, out] in memory (files keep PyTorch's [out, in]). Both start from U(-1/sqrt(in),
// 1/sqrt(in)), as PyTorch's nn.Linear does.
class Linear {
public:
  Linear(int64_t in, int64_t out, bool with_bias, Random& random);
  Tensor operator()(const Tensor& x) const;  // ShapeError, naming the layer, if x has another last size
  Parameters parameters() const;

  Tensor weight;  // [in, out]
  Tensor bias;    // [out], or undefined
};

// Row ids[i] of a table. Starts from a uniform distribution of variance 1 (PyTorch takes a normal one of the
// same variance; on our tasks both learn alike).
class Embedding {
public:
  Embedding(int64_t count, int64_t width, Random& random);
  Tensor operator()(const std::vector<int>& ids, const Shape& ids_shape) const;  // ids_shape + [width]
  Parameters parameters() const { return {{"weight", weight}}; }

  Tensor weight;  // [count, width]
};

class LayerNorm {
public:
  explicit LayerNorm(int64_t width);
  Tensor operator()(const Tensor& x) const { return layernorm(x, weight, bias); }
  Parameters parameters() const { return {{"weight", weight}, {"bias", bias}}; }

  Tensor weight;  // [width], ones at the start
  Tensor bias;    // [width], zeros at the start
};

enum class Activation { relu, gelu_erf, gelu_tanh };

// linear2(activation(linear1(x))).   x [..., D] -> [..., F] -> [..., D]
class MLP {
public:
  MLP(int64_t width, int64_t hidden, Activation activation, Random& random);
  Tensor operator()(const Tensor& x) const;
  Parameters parameters() const;

  Linear linear1;
  Linear linear2;
  Activation activation;
};

}  // namespace headway

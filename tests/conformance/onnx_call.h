// An ONNX operator at work. The adaptor moves axes and builds masks; every number comes from a function of
// src/. In ONNX a boolean mask is true = may attend, as here.
#pragma once

#include "case.h"

namespace conformance {

struct Value {
  Tensor tensor;
  std::vector<int64_t> ints;  // of an integer or boolean array
  bool is_float = true;
};

// One operator at work. Inputs and outputs stand in the operator's order; an input left out is undefined.
struct Call {
  const Json& attributes;
  std::vector<Value> in;
  std::vector<Tensor> out;

  bool has(size_t i) const { return i < in.size() && in[i].tensor.defined(); }
  Tensor x(size_t i = 0) const {
    if (!has(i)) throw FileError(text("the case has no input number ", i));
    return in[i].tensor;
  }
  int64_t integer(const char* name, int64_t otherwise = 0) const {
    return attributes.find(name) ? attributes.at(name).integer() : otherwise;
  }
  Scalar number(const char* name, double otherwise) const {
    return Scalar(attributes.find(name) ? attributes.at(name).number() : otherwise);
  }
  std::string word(const char* name, const char* otherwise) const {
    return attributes.find(name) ? attributes.at(name).text() : otherwise;
  }
  // A list of numbers comes as an input or, in old versions of an operator, as an attribute.
  std::vector<int64_t> list(size_t i, const char* name) const {
    if (has(i)) return in[i].ints;
    std::vector<int64_t> numbers;
    if (attributes.find(name)) {
      for (const Json& item : attributes.at(name).items) numbers.push_back(item.integer());
    }
    return numbers;
  }
};

// Runs an operator of the list in onnx_ops.cpp; any other leaves `out` undefined.
void run_operator(const std::string& op, Call& call);

}  // namespace conformance

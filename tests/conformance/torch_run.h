// A torch case in work. The adaptor renames, transposes and builds masks; every number comes from a function
// of src/. PyTorch's Linear weights are [out, in], ours [in, out]. Its boolean masks are true = blocked, ours
// true = allowed.
#pragma once

#include <algorithm>

#include "case.h"
#include "core/mask.h"

namespace conformance {

// Names have '_' for '.', as in the names of the files.
struct Run {
  explicit Run(const Case& c) : config(c.json.at("config")) {
    for (const Json& entry : c.json.at("grads").items) wanted.insert(key(entry));
    for (const Json& entry : c.json.at("inputs").items) {
      const NpyArray array = c.read(entry);
      const Tensor tensor = array.tensor();
      tensors[key(entry)] = wanted.count(key(entry)) ? tensor.requires_grad() : tensor;
      integers[key(entry)].assign(array.integers.begin(), array.integers.end());
    }
  }
  static std::string key(const Json& entry) {
    std::string name = entry.at("name").text();
    std::replace(name.begin(), name.end(), '.', '_');
    return name;
  }

  bool has(const std::string& input) const { return tensors.count(input) > 0; }
  Tensor in(const std::string& input) const {
    if (!has(input)) throw FileError("the case has no input " + input);
    return tensors.at(input);
  }
  Tensor maybe(const std::string& input) const { return has(input) ? in(input) : Tensor(); }
  Tensor x(int i = 0) const { return in(text("x", i)); }
  Allow allowed(const std::string& blocked, const Shape& shape) const {
    std::vector<unsigned char> flags;
    for (int flag : integers.at(blocked)) flags.push_back(flag == 0);
    return Allow(shape, flags);
  }

  std::string op() const { return config.at("op").text(); }
  int64_t integer(const char* name) const { return config.at(name).integer(); }
  int axis() const { return int(integer("axis")); }
  Scalar number(const char* name, Scalar otherwise = 0) const {
    return config.find(name) ? Scalar(config.at(name).number()) : otherwise;
  }
  bool flag(const char* name, bool otherwise = false) const {
    return config.find(name) ? config.at(name).truth : otherwise;
  }

  void out(const std::string& name, const Tensor& t) { results["out_" + name] = t; }
  void y(const Tensor& t) { out("y", t); }

  const Json& config;
  std::set<std::string> wanted;  // inputs whose gradients are stored
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::vector<int>> integers;
  Results results;
};

// What torch_layers.cpp runs.
void linear(Run& r);
void split_and_merge(Run& r);
void split_scale_merge(Run& r);
void bare_attention(Run& r);
void attention_layer(Run& r);
void cached_layer(Run& r);
void encoder_layer(Run& r);
void language_model(Run& r);
void optimise(Run& r);
void clip(Run& r);
void accumulate(Run& r);

}  // namespace conformance

// A conformance case: a folder with case.json and one .npy file for each array, made by somebody else's
// program. Two kinds exist. Torch cases have a "config" and gradients; ONNX cases have an operator with
// "attributes".
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/ops.h"
#include "files/json.h"
#include "files/npy.h"

namespace conformance {

using namespace headway;

struct Case {
  std::string folder;
  Json json;

  bool is_torch() const { return json.find("config") != nullptr; }
  NpyArray read(const Json& entry) const { return read_npy(folder + "/" + entry.at("file").text()); }
};

// What coverage.tsv decides by: an operator, and the names of the attributes and inputs in use. An attribute
// that is null, false or 0 is not in use.
struct Use {
  std::string op;
  std::set<std::string> with;

  void add(const std::string& name, bool in_use = true) {
    if (in_use) with.insert(name);
  }
  void add_attributes(const Json& attributes);
};

// Our numbers for the arrays of a case, under the names of their files without ".npy": out_y, grad_x0.
using Results = std::map<std::string, Tensor>;

std::vector<Use> torch_uses(const Case& c);
Results run_torch(const Case& c);
std::vector<Use> onnx_uses(const Case& c);  // a graph uses several operators
Results run_onnx(const Case& c);

// x with one axis moved to another place; the others keep their order. So an op along the last axis reaches
// any axis.
Tensor move_axis(const Tensor& x, int from, int to);

}  // namespace conformance

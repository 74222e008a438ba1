// The ONNX cases: what a case uses, and the walk over its operator or graph.
#include "onnx_call.h"

namespace conformance {
namespace {

// A node of a graph, or the only one of a case.
struct GraphNode {
  std::string op;
  const Json& attributes;
  std::vector<std::string> inputs, outputs;
};

std::vector<std::string> words(const Json& list) {
  std::vector<std::string> out;
  for (const Json& item : list.items) out.push_back(item.text());
  return out;
}

std::vector<GraphNode> nodes(const Case& c) {
  std::vector<GraphNode> out;
  const Json& j = c.json;
  if (!j.find("nodes")) {
    return {{j.at("op").text(), j.at("attributes"), words(j.at("node_inputs")), words(j.at("node_outputs"))}};
  }
  for (const Json& n : j.at("nodes").items) {
    out.push_back({n.at("op").text(), n.at("attributes"), words(n.at("inputs")), words(n.at("outputs"))});
  }
  return out;
}

const Json* entry_of(const Case& c, const GraphNode& node, size_t i) {
  for (const Json& entry : c.json.at("inputs").items) {
    if (i < node.inputs.size() && entry.at("name").text() == node.inputs[i]) return &entry;
  }
  return nullptr;
}

// The names of the inputs that coverage.tsv asks for.
const std::map<std::string, std::vector<std::string>> optional_inputs = {
    {"Attention", {"Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen"}},
    {"SoftmaxCrossEntropyLoss", {"scores", "labels", "weights"}},
};

Use use_of(const Case& c, const GraphNode& node) {
  Use use{node.op, {}};
  use.add_attributes(node.attributes);
  const auto names = optional_inputs.find(node.op);
  for (size_t i = 0; names != optional_inputs.end() && i < names->second.size(); i++) {
    use.add(names->second[i], entry_of(c, node, i) != nullptr);
  }
  const Json *first = entry_of(c, node, 0), *second = entry_of(c, node, 1), *third = entry_of(c, node, 2);
  use.add("integer_data", first && first->at("dtype").text().find("float") != 0);
  if (node.op == "Attention" && first && second) {
    const Json &q = first->at("shape"), &k = second->at("shape");
    const Json *a = node.attributes.find("q_num_heads"), *b = node.attributes.find("kv_num_heads");
    use.add("grouped_heads", a && b ? a->value != b->value : q.items.at(1).value != k.items.at(1).value);
  }
  if (node.op == "Pow" && second) use.add("array_of_exponents", c.read(*second).tensor().size() != 1);
  if (node.op == "Dropout") {
    const bool is_training = third && c.read(*third).integers.at(0) != 0;
    use.add("random", is_training && (!second || c.read(*second).numbers.at(0) != 0));
  }
  return use;
}

}  // namespace

std::vector<Use> onnx_uses(const Case& c) {
  std::vector<Use> uses;
  for (const GraphNode& node : nodes(c)) uses.push_back(use_of(c, node));
  return uses;
}

Results run_onnx(const Case& c) {
  std::map<std::string, Value> values;
  for (const Json& entry : c.json.at("inputs").items) {
    const NpyArray array = c.read(entry);
    const Tensor tensor = array.is_float() ? array.tensor().requires_grad() : array.tensor();
    values[entry.at("name").text()] = {tensor, array.integers, array.is_float()};
  }
  for (const GraphNode& node : nodes(c)) {
    if (node.op == "Gradient") {
      const std::vector<std::string> xs = words(node.attributes.at("xs"));
      values[node.attributes.at("y").text()].tensor.backward();
      for (size_t i = 0; i < xs.size(); i++) values[node.outputs.at(i)] = {values[xs[i]].tensor.grad(), {}};
      continue;
    }
    Call call{node.attributes, {}, std::vector<Tensor>(node.outputs.size())};
    for (const std::string& name : node.inputs) call.in.push_back(values[name]);
    run_operator(node.op, call);
    for (size_t i = 0; i < node.outputs.size() && i < call.out.size(); i++) {
      if (call.out[i].defined()) values[node.outputs[i]] = {call.out[i], {}};
    }
  }
  Results results;
  for (const Json& entry : c.json.at("outputs").items) {
    const Tensor ours = values[entry.at("name").text()].tensor;
    const std::string file = entry.at("file").text();
    if (ours.defined()) results[file.substr(0, file.rfind('.'))] = ours;
  }
  return results;
}

}  // namespace conformance

// The torch cases: ops, and which function runs which case.
#include "torch_run.h"

namespace conformance {
namespace {

// Three small graphs in which a node is used more than once: d = (a + b) + (a b), 2 (x + x) and x x + x.
void reuse(Run& r) {
  const Tensor x = r.x();
  if (r.has("x1")) {
    const Tensor c = x + r.x(1), d = x * r.x(1);
    r.y((c + d) + c * d);
  } else if (x.size() == 1) {
    const Tensor b = x + x;
    r.y(b + b);
  } else {
    r.y(x * x + x);
  }
}

void softmax_along(Run& r) {
  const Tensor x = move_axis(r.x(), r.axis(), -1);
  const Tensor y = r.has("mask") ? softmax(x, r.allowed("mask", x.shape())) : softmax(x);
  r.y(move_axis(y, -1, r.axis()));
}

void log_softmax_along(Run& r) {
  const Tensor x = move_axis(r.x(), r.axis(), -1);
  r.y(move_axis(log_softmax(x), -1, r.axis()));
}

void embed(Run& r) { r.y(embedding(r.in("weight"), r.integers.at("index"), r.in("index").shape())); }

void loss(Run& r) {
  const std::string reduction = r.config.at("reduction").text();
  CrossEntropy options;
  if (reduction == "sum") options.reduction = Reduction::sum;
  if (reduction == "none") options.reduction = Reduction::none;
  options.ignore_index = int(r.number("ignore_index", -100));
  options.label_smoothing = r.number("label_smoothing");
  r.out(reduction == "none" ? "y" : "loss", cross_entropy(r.in("logits"), r.integers.at("target"), options));
}

void layer_norm(Run& r) {
  const Shape width = {r.in("x").dim(-1)};
  const Tensor weight = r.has("weight") ? r.in("weight") : Tensor::full(width, 1);  // [D]
  const Tensor bias = r.has("bias") ? r.in("bias") : Tensor::zeros(width);          // [D]
  r.y(layernorm(r.in("x"), weight, bias, r.number("eps")));
}

struct Entry {
  const char* op;
  void (*run)(Run&);
};

const Entry table[] = {
    {"add", [](Run& r) { r.y(r.x(0) + r.x(1)); }},
    {"sub", [](Run& r) { r.y(r.x(0) - r.x(1)); }},
    {"mul", [](Run& r) { r.y(r.x(0) * r.x(1)); }},
    {"div", [](Run& r) { r.y(r.x(0) / r.x(1)); }},
    {"matmul", [](Run& r) { r.y(matmul(r.x(0), r.x(1))); }},
    {"sum", [](Run& r) { r.y(sum(r.x(), {r.axis()}, r.flag("keepdim"))); }},
    {"mean", [](Run& r) { r.y(mean(r.x(), {r.axis()}, r.flag("keepdim"))); }},
    {"concat",
     [](Run& r) {
       r.y(concat(std::vector<Tensor>{r.x(0), r.x(1)}, r.axis()));
     }},
    {"slice", [](Run& r) { r.y(slice(r.x(), 1, 1, 3)); }},  // x[:, 1:3]
    {"mixed", [](Run& r) { r.y(exp(r.x()) + log(r.x()) + sqrt(r.x()) + pow(r.x(), 3)); }},
    {"gelu_erf", [](Run& r) { r.y(gelu_erf(r.x())); }},
    {"gelu_tanh", [](Run& r) { r.y(gelu_tanh(r.x())); }},
    {"relu", [](Run& r) { r.y(relu(r.x())); }},
    {"tanh", [](Run& r) { r.y(tanh(r.x())); }},
    {"sigmoid", [](Run& r) { r.y(sigmoid(r.x())); }},
    {"reuse", reuse},
    {"softmax", softmax_along},
    {"log_softmax", log_softmax_along},
    {"layernorm", layer_norm},
    {"embedding", embed},
    {"cross_entropy", loss},
    {"linear", linear},
    {"split", split_and_merge},
    {"split_merge", split_scale_merge},
    {"sdpa", bare_attention},
    {"mha", attention_layer},
    {"mha_gated", attention_layer},
    {"kv_cache", cached_layer},
    {"encoder_layer", encoder_layer},
    {"tiny_gpt", language_model},
    {"sgd", optimise},
    {"adam", optimise},
    {"adamw", optimise},
    {"clip", clip},
    {"accumulate", accumulate},
};

}  // namespace

std::vector<Use> torch_uses(const Case& c) {
  const Json& config = c.json.at("config");
  Use use{config.at("op").text(), {}};
  use.add_attributes(config);
  for (const Json& entry : c.json.at("inputs").items) {
    use.add(entry.at("name").text());
    if (use.op != "cross_entropy" || entry.at("name").text() != "target") continue;
    const int64_t ignored = config.find("ignore_index") ? config.at("ignore_index").integer() : -100;
    bool all = true;
    for (int64_t id : c.read(entry).integers) all = all && id == ignored;
    use.add("every_target_ignored", all);
  }
  if (const Json* padded = config.find("padded_keys")) {
    for (const Json& n : padded->items) use.add("every_key_padded", n.integer() == config.at("S").integer());
  }
  return {use};
}

Results run_torch(const Case& c) {
  Run r(c);
  for (const Entry& entry : table) {
    if (entry.op == r.op()) entry.run(r);
  }
  if (r.has("cot")) r.out("loss", sum(r.results["out_y"] * r.in("cot")));  // the loss of most cases
  if (!r.wanted.empty()) r.results["out_loss"].backward();
  for (const std::string& name : r.wanted) r.results["grad_" + name] = r.in(name).grad();
  return r.results;
}

}  // namespace conformance

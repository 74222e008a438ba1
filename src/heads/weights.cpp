#include "heads/weights.h"

namespace headway {

double weight_back(const Tensor& patterns, int64_t head, int64_t steps, int64_t first) {
  const int64_t h = patterns.dim(0), T = patterns.dim(1);
  if (head < 0 || head >= h || steps < 0 || first < steps || first >= T) {
    throw ValueError(
        Message(text("weight_back: head ", head, ", ", steps, " steps back from query ", first, " on"))
            .tensor("patterns", patterns.name(), patterns.shape())
            .rule(text("heads run from 0 to ", h - 1, ", and first from `steps` to ", T - 1)));
  }
  double total = 0;
  for (int64_t t = first; t < T; t++) total += double(patterns.at({head, t, t - steps}));
  return total / double(T - first);
}

int64_t head_looking_back(const Tensor& patterns, int64_t steps, int64_t first) {
  int64_t best = 0;
  for (int64_t head = 1; head < patterns.dim(0); head++) {
    if (weight_back(patterns, head, steps, first) > weight_back(patterns, best, steps, first)) best = head;
  }
  return best;
}

Tensor gate_without(int64_t num_heads, int64_t head) {
  if (head < 0 || head >= num_heads) {
    throw ValueError(Message(text("gate_without: there is no head ", head, " in a layer of ", num_heads))
                         .rule(text("heads run from 0 to ", num_heads - 1)));
  }
  Tensor gate = Tensor::full({num_heads}, 1);  // [h]
  gate.mutable_values()[size_t(head)] = 0;
  return gate;
}

}  // namespace headway

// What a head looks at, in numbers, and how to switch one head off.
#pragma once

#include "core/tensor.h"

namespace headway {

// The mean weight of `head` on the token `steps` back, over the queries from `first` on. patterns: [h, T, T].
// ValueError for a head that is not there, or where no query from `first` on has a token so far back.
double weight_back(const Tensor& patterns, int64_t head, int64_t steps, int64_t first);

// The head whose mean weight there is largest; of equal ones the first.
int64_t head_looking_back(const Tensor& patterns, int64_t steps, int64_t first);

// A gate (head mask) that switches off one head: ones, and 0 at `head`.   [h]. ValueError if it is not there.
Tensor gate_without(int64_t num_heads, int64_t head);

// f(gate) for the removal of each head: result i without head i.
template <class OfGate>
auto without_each_head(int64_t num_heads, const OfGate& f) {
  std::vector<decltype(f(Tensor()))> out;
  for (int64_t head = 0; head < num_heads; head++) out.push_back(f(gate_without(num_heads, head)));
  return out;
}

}  // namespace headway

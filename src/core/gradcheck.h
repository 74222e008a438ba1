// Is a backward right? Central differences say so: (f(x + e) - f(x - e)) / 2e against what backward gives,
// for every element of every input, through a random projection (never a plain sum: through softmax its
// gradient is zero, and a backward that writes nothing would pass). Exact enough to judge only in the double
// build: make test MODE=double.
#pragma once

#include <string>

#include "core/tensor.h"

namespace headway {

using OpUnderTest = Tensor (*)(std::span<const Tensor> inputs);

struct GradientCheck {
  bool passed;
  double worst_error;  // |backward - difference| / max(|backward|, |difference|, 1e-2)
  std::string report;  // of the worst element: op, input, index, both values and the error
};

// Checks f at `inputs`, whose values should stand away from kinks (relu at 0). Works for an op of your own:
//   check_gradients("square", [](std::span<const Tensor> in) { return in[0] * in[0]; }, {x});
// `spoil` multiplies one element of one gradient by 1.001 first: the harness must then say no.
GradientCheck check_gradients(const char* name, OpUnderTest f, const std::vector<Tensor>& inputs,
                              double tolerance = 1e-7, bool spoil = false);

}  // namespace headway

// Numbers and tensors as text, the same text on every machine.
#pragma once

#include <string>

#include "core/tensor.h"

namespace headway {

// `decimals` digits behind the point. A NaN has no sign, and nothing prints as "-0.00".
std::string number(double value, int decimals);

// Right-aligned in `width` columns.
std::string padded(const std::string& s, int width);

// Name, shape and rows, matrix by matrix; long tensors are cut in the middle.
std::string to_text(const Tensor& t, int decimals = 4);

// The same on standard output. A plain function, so that any debugger can call it: call show(q)
void show(const Tensor& t);

}  // namespace headway

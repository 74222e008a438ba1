// Who can be seen from where: change one token, and look which rows move. A fault that leaves every shape and
// every loss as it should be, such as a merge without its permute, shows here.
#pragma once

#include "core/tensor.h"

namespace headway {

// T + 1 lines: `line`, and for each s the same with the next token at place s.   [T+1, T]
std::vector<int> changed_lines(const std::vector<int>& line, int vocab_size);

// y [T+1, T, w]: what was made of changed_lines(). Entry [t, s] is 1 where changing token s moves row t in
// any bit, else 0.
Tensor moved_rows(const Tensor& y);  // [T, T]

// Of all pairs t < s, the share in which token s moves the earlier row t: 0 in a causal model. map: [T, T]
double share_moved_earlier(const Tensor& map);

}  // namespace headway

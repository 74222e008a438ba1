// Which keys a query may attend to, and what is added to the scores. Everything given applies at once.
#pragma once

#include <optional>

#include "core/mask.h"

namespace headway {

struct Masking {
  bool is_causal = false;
  // Causal: keys before the first query. May be left out only when T = S (then 0).
  std::optional<int64_t> past = {};
  std::optional<Allow> allow = {};
  std::optional<Bias> bias = {};
};

// What `masking` allows of scores [B, h, T, S], all taken together; nothing if every key is. ShapeError or
// ValueError, in the name of attention, for a mask that does not fit.
std::optional<Allow> allowed(const Masking& masking, const Tensor& scores);

}  // namespace headway

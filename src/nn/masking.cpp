#include "nn/masking.h"

namespace headway {

std::optional<Allow> allowed(const Masking& masking, const Tensor& scores) {
  const int64_t T = scores.dim(2), S = scores.dim(3);
  if (masking.allow) expect_mask_fits("attention", "Allow", masking.allow->shape(), scores);
  if (masking.bias) expect_mask_fits("attention", "Bias", masking.bias->values.shape(), scores);
  if (!masking.is_causal && masking.past) {
    throw ValueError(Message(text("attention: past ", *masking.past, " is given, but is_causal is not"))
                         .rule("past says where a causal mask begins; without one it means nothing")
                         .hint("set is_causal, or leave past out"));
  }
  if (!masking.is_causal) return masking.allow;
  if (T != S && !masking.past) {
    const std::string cached =
        S > T ? text("after a cache of ", S - T, " keys it is past = ", S - T, "; ") : "";
    throw ValueError(
        Message(text("attention: is_causal with ", T, " queries and ", S, " keys needs to know the past"))
            .rule("query t sees keys 0 .. past + t, where past counts the keys before the first query")
            .hint(text(cached, "with nothing before it is past = 0")));
  }
  const Allow causal = Allow::causal(T, S, masking.past.value_or(0));
  return masking.allow ? *masking.allow & causal : causal;
}

}  // namespace headway

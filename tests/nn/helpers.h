// What the tests of src/nn share.
#pragma once

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace headway {

// What values worked out by hand to twelve digits agree to.
constexpr double close_enough = sizeof(Scalar) == 8 ? 1e-11 : 3e-6;

inline Tensor random_tensor(const Shape& shape, uint64_t seed) {
  Random random(seed);
  return Tensor::uniform(shape, -1, 1, random);
}

inline std::vector<double> numbers(const Tensor& t) { return {t.values().begin(), t.values().end()}; }

// "" if all numbers agree to `tolerance`, relative to those above 1; else the first that does not. For CHECK.
inline std::string far_apart(const Tensor& t, const std::vector<double>& expected,
                             double tolerance = close_enough) {
  if (t.size() != int64_t(expected.size())) return text(t.size(), " numbers, not ", expected.size());
  for (size_t i = 0; i < expected.size(); i++) {
    const double x = t.data()[i], e = expected[i];
    if (!(std::abs(x - e) <= tolerance * std::fmax(1, std::abs(e))))
      return text("at ", i, ": ", x, ", not ", e);
  }
  return "";
}

inline bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::memcmp(a.data(), b.data(), size_t(a.size()) * sizeof(Scalar)) == 0;
}

inline bool all_finite(const Tensor& t) {
  for (Scalar x : t.values()) {
    if (!std::isfinite(x)) return false;
  }
  return true;
}

// Writes `values` into a parameter.
inline void assign(Tensor to, const std::vector<double>& values) {
  for (size_t i = 0; i < values.size(); i++) to.mutable_values()[i] = Scalar(values[i]);
}

}  // namespace headway

// Eight floats that the machine computes at once. GCC and clang turn this type into AVX, SSE or NEON code,
// always with the same results lane by lane.
#pragma once

#include <cstring>

#include "core/scalar.h"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#endif

namespace headway {

constexpr int64_t lanes = 8;

typedef float Lanes __attribute__((vector_size(32)));

inline Lanes load(const float* p) {
  Lanes v;
  std::memcpy(&v, p, sizeof v);  // no alignment is asked for
  return v;
}

inline void store(float* p, Lanes v) { std::memcpy(p, &v, sizeof v); }

inline Lanes broadcast(float x) { return Lanes{x, x, x, x, x, x, x, x}; }

// a * b + c in each lane, rounded once.
inline Lanes fma(Lanes a, Lanes b, Lanes c) {
#if defined(__AVX2__) && defined(__FMA__)
  return Lanes(_mm256_fmadd_ps(__m256(a), __m256(b), __m256(c)));
#else
  for (int64_t j = 0; j < lanes; j++) c[j] = std::fma(a[j], b[j], c[j]);
  return c;
#endif
}

}  // namespace headway

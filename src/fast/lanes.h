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

// One number from eight, by the tree f(f(f(0, 4), f(2, 6)), f(f(1, 5), f(3, 7))) over their lanes: each step
// folds one half onto the other.
template <class F>
float fold(Lanes v, F f) {
  v = f(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3));
  v = f(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5));
  v = f(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6));
  return v[0];
}

// Transposes 8 x 8 numbers, one row in each v[i]. Interleaving row i with row i + 4 is a perfect shuffle of
// the 64; three of them exchange the three bits of the row's number with those of the lane's.
inline void transpose(Lanes v[lanes]) {
  for (int round = 0; round < 3; round++) {
    Lanes next[lanes];
    for (int i = 0; i < 4; i++) {
      next[2 * i] = __builtin_shufflevector(v[i], v[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
      next[2 * i + 1] = __builtin_shufflevector(v[i], v[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
    }
    for (int i = 0; i < lanes; i++) v[i] = next[i];
  }
}

}  // namespace headway

// Random numbers that are the same on every machine: SplitMix64 (Steele, Lea, Flood 2014), and uniforms made
// from it by hand. The standard library's distributions differ between compilers, so none is used.
#pragma once

#include "core/scalar.h"

namespace headway {

class Random {
public:
  explicit Random(uint64_t seed) : state_(seed) {}

  // The next 64 random bits.
  uint64_t bits() {
    state_ += 0x9E3779B97F4A7C15u;  // 2^64 / golden ratio: visits every state once
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  // A uniform number in [low, high): 24 random bits, so that every step is exact in float.
  Scalar uniform(Scalar low = 0, Scalar high = 1) {
    const Scalar unit = Scalar(bits() >> 40) / Scalar(1 << 24);
    const Scalar x = fma(high - low, unit, low);
    return x < high ? x : low;  // rounding may reach high
  }

  // A whole number in 0 .. n-1, for n of at least 1. The bias of the multiplication is below n / 2^32.
  int below(int n) { return int(((bits() >> 32) * uint64_t(n)) >> 32); }

  // A seed for a stream of its own: data, weights and dropout do not disturb each other.
  Random split() { return Random(bits()); }

private:
  uint64_t state_;
};

}  // namespace headway

// The number type of the whole project: float, or double in the build that checks gradients
// (-DSCALAR_DOUBLE).
#pragma once

#include <cmath>
#include <cstdint>

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "Headway needs NaN and infinity to be real: build without -ffast-math and -Ofast"
#endif

namespace headway {

#ifdef SCALAR_DOUBLE
using Scalar = double;
#else
using Scalar = float;
#endif

// a * b + c, rounded once. The only fused multiply-add in the project: the compiler may not make its own
// (-ffp-contract=off), so the same source gives the same bits everywhere.
inline Scalar fma(Scalar a, Scalar b, Scalar c) { return std::fma(a, b, c); }

}  // namespace headway

// exp, log, tanh, erf, sin and cos of one number. Standard libraries disagree in the last bit, so the float
// build brings its own: polynomials with explicit fma, the same bits on every machine. They choose between
// values and never branch, so a compiler turns a loop over them into vector code.
//
// The largest error against long double, over every float of the range. One ulp is the step from one
// float to the next; correct rounding would give 0.5.
//
//   function   range                       ulp     relative   absolute
//   exp        -87.33 .. 88.72             0.892   7.7e-8
//   exp        -103.97 .. -87.33           0.858                         denormal results
//   log        1.4e-45 .. 3.4e38           0.876   8.3e-8
//   tanh       all                         0.960   8.0e-8     5.8e-8
//   erf        all                         1.083   7.5e-8     6.5e-8
//   sin, cos   -300,000 .. 300,000                            7.2e-8
//
// exp and erf may step back by one ulp between neighbouring floats; log and tanh never do.
#pragma once

#include "core/scalar.h"

#include <bit>
#include <cstdint>
#include <limits>

namespace headway::maths {

#ifdef SCALAR_DOUBLE

inline Scalar exp(Scalar x) { return std::exp(x); }
inline Scalar log(Scalar x) { return std::log(x); }
inline Scalar tanh(Scalar x) { return std::tanh(x); }
inline Scalar erf(Scalar x) { return std::erf(x); }
inline Scalar sin(Scalar x) { return std::sin(x); }
inline Scalar cos(Scalar x) { return std::cos(x); }

#else

// Machines differ in the sign of the NaN they make, so each function gives this one back.
inline constexpr Scalar nan = std::numeric_limits<Scalar>::quiet_NaN();
inline constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();

// A float is 1 bit of sign, 8 of exponent (holding exponent + 127), 23 of fraction.
inline std::int32_t bits(Scalar x) { return std::bit_cast<std::int32_t>(x); }
inline Scalar from_bits(std::int32_t i) { return std::bit_cast<Scalar>(i); }
inline std::int32_t sign_bit(Scalar x) { return bits(x) & ~0x7fffffff; }
inline Scalar magnitude(Scalar x) { return from_bits(bits(x) & 0x7fffffff); }
inline Scalar power_of_two(std::int32_t k) { return from_bits((k + 127) << 23); }  // -126 <= k <= 127

// Added to |x| < 2^22 it leaves no room for a fraction: x is rounded, and its low bits hold the whole number.
// Reading those bits is safe where int(x) is not: int of a NaN is undefined.
inline constexpr Scalar rounder = 12582912;  // 1.5 * 2^23

// ln 2 and pi/2 as sums of floats: each part holds the bits that no longer fit into the one before.
inline constexpr Scalar ln2_high = Scalar(0.693147182), ln2_low = Scalar(-1.90465421e-9);
inline constexpr Scalar half_pi_high = Scalar(1.57079637), half_pi_middle = Scalar(-4.37113883e-8),
                        half_pi_low = Scalar(-1.71512451e-15);

// c0 + c1 x + c2 x^2 + ... as c0 + x (c1 + x (c2 + ...)), one fma a step. The coefficients below are minimax
// fits, rounded to float one after the other, each time with a new fit of those that are left.
inline Scalar polynomial(Scalar, double c) { return Scalar(c); }
template <class... Rest>
inline Scalar polynomial(Scalar x, double c, Rest... rest) {
  return fma(x, polynomial(x, rest...), Scalar(c));
}

// e^x = 2^n e^r with n = round(x / ln 2), so |r| <= ln 2 / 2.
inline Scalar exp(Scalar x) {
  Scalar a = x > -104 ? x : Scalar(-104);          // e^-104 rounds to 0; the last line sees to NaN
  a = a < 89 ? a : Scalar(89);                     // e^89 rounds to infinity
  Scalar t = fma(a, Scalar(1.44269502), rounder);  // 1 / ln 2
  Scalar n = t - rounder;
  Scalar r = fma(-n, ln2_low, fma(-n, ln2_high, a));
  Scalar y = polynomial(r, 1, 1, 0.49999994, 0.166665211, 0.0416682884, 0.00836870354, 0.00138189388);
  std::int32_t k = bits(t) - bits(rounder);
  std::int32_t half = k >> 1;  // two steps: y 2^n may be a float where 2^n is too large or too small for one
  y = y * power_of_two(half) * power_of_two(k - half);
  return x == x ? y : nan;
}

// log x = e ln 2 + log(1 + f) with x = 2^e (1 + f) and 1 + f between sqrt(1/2) and sqrt(2).
// log(1 + f) = f - f^2 / 2 + f^3 p(f)
inline Scalar log(Scalar x) {
  Scalar a = x > 0 ? x : Scalar(1);  // the last line sees to 0, negative numbers and NaN
  bool denormal = a < std::numeric_limits<Scalar>::min();
  a = denormal ? a * 8388608 : a;             // 2^23
  const std::int32_t root_half = 0x3f3504f3;  // the bits of sqrt(1/2)
  std::int32_t above = bits(a) - root_half;
  Scalar e = Scalar((above >> 23) - (denormal ? 23 : 0));
  Scalar f = from_bits((above & 0x7fffff) + root_half) - 1;
  Scalar p = polynomial(f, 0.333333313, -0.250008196, 0.200012416, -0.166234091, 0.1420158, -0.131596103,
                        0.127622157, -0.0763643533);
  Scalar y = fma(f * f, fma(f, p, Scalar(-0.5)), e * ln2_low) + f;
  y = fma(e, ln2_high, y);
  y = x < infinity ? y : infinity;
  return x > 0 ? y : (x == 0 ? -infinity : nan);
}

// Odd: computed for a = |x|, then given the sign of x. Small a: a + a^3 p(a^2). Large a: 1 - 2 / (e^2a + 1).
inline Scalar tanh(Scalar x) {
  Scalar a = magnitude(x);
  Scalar s = a * a;
  Scalar p = polynomial(s, -0.333332956, 0.133323476, -0.0538799874, 0.0214871764, -0.00794684514,
                        0.00230188458, -0.000358595862);
  Scalar small = fma(a * s, p, a);
  Scalar large = 1 - 2 / (exp(2 * a) + 1);
  Scalar y = a < 1 ? small : large;
  return x == x ? from_bits(bits(y) | sign_bit(x)) : nan;
}

// Odd as well. Small a: a + a p(a^2). Large a: 1 - e^q(a), where q is a fit of log(1 - erf a).
inline Scalar erf(Scalar x) {
  Scalar a = magnitude(x);
  a = a < 4 ? a : Scalar(4);  // erf 4 rounds to 1
  Scalar p = polynomial(a * a, 0.128379166, -0.37612626, 0.112835787, -0.0268533472, 0.0051871622,
                        -0.00079978531, 7.80690316e-05);
  Scalar q = polynomial(a, -0.000341522304, -1.12708914, -0.63814503, -0.103106447, 0.0218378324,
                        -0.00294757425, 0.000186367382);
  Scalar y = a < 1 ? fma(a, p, a) : 1 - exp(q);
  return x == x ? from_bits(bits(y) | sign_bit(x)) : nan;
}

// sin(a + quarters pi/2) for a >= 0. With a = n pi/2 + r and |r| <= pi/4 it is one of sin r, cos r, -sin r,
// -cos r. Beyond a = 300,000 floats cannot hold n pi/2 well enough: r is then kept within 0.8, so that the
// result, though no longer accurate, stays within [-1, 1].
inline Scalar shifted_sine(Scalar a, std::int32_t quarters) {
  Scalar t = fma(a, Scalar(0.636619747), rounder);  // 2 / pi
  Scalar n = t - rounder;
  Scalar r = fma(-n, half_pi_low, fma(-n, half_pi_middle, fma(-n, half_pi_high, a)));
  r = r < Scalar(0.8) ? r : Scalar(0.8);
  r = r > Scalar(-0.8) ? r : Scalar(-0.8);
  Scalar s = r * r;
  Scalar sine = fma(r * s, polynomial(s, -0.166666538, 0.00833209511, -0.0001950554), r);
  Scalar cosine = polynomial(s, 1, -0.5, 0.0416666456, -0.00138872908, 2.44286457e-05);
  std::int32_t k = (bits(t) & 3) + quarters;
  Scalar y = (k & 1) != 0 ? cosine : sine;
  return from_bits(bits(y) ^ ((k & 2) << 30));
}

// Odd.
inline Scalar sin(Scalar x) {
  Scalar a = magnitude(x);
  Scalar y = shifted_sine(a, 0);
  return a < infinity ? from_bits(bits(y) ^ sign_bit(x)) : nan;
}

// Even: cos x = sin(|x| + pi/2).
inline Scalar cos(Scalar x) {
  Scalar a = magnitude(x);
  Scalar y = shifted_sine(a, 1);
  return a < infinity ? y : nan;
}

#endif

}  // namespace headway::maths

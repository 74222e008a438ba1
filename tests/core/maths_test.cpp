// exp, log, tanh, erf, sin and cos of the float build: accuracy, special values, edges, the same bits
// everywhere.
#include "core/maths.h"

#include "catch.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#ifndef SCALAR_DOUBLE

using namespace headway;

namespace {

using Ours = Scalar (*)(Scalar);
using Exact = long double (*)(long double);

constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
constexpr Scalar largest = std::numeric_limits<Scalar>::max();
constexpr Scalar smallest = std::numeric_limits<Scalar>::denorm_min();
constexpr Scalar quiet_nan = std::numeric_limits<Scalar>::quiet_NaN();

long double exact_exp(long double x) { return std::exp(x); }
long double exact_log(long double x) { return std::log(x); }
long double exact_tanh(long double x) { return std::tanh(x); }
long double exact_erf(long double x) { return std::erf(x); }
long double exact_sin(long double x) { return std::sin(x); }
long double exact_cos(long double x) { return std::cos(x); }

double absolute_error(Scalar y, long double exact) { return double(std::fabs(y - exact)); }

// In steps between the floats around the exact value; below 2^-126 every step is 2^-149.
double error_in_ulp(Scalar y, long double exact) {
  int exponent = 0;
  std::frexp(double(exact), &exponent);
  return std::ldexp(absolute_error(y, exact), -std::max(exponent - 24, -149));
}

// One line of the table in core/maths.h: `bound` holds on [from, to], and at `worst_at` it is nearly reached.
struct Claim {
  const char* name;
  Ours ours;
  Exact exact;
  double (*error)(Scalar, long double);
  Scalar from, to, worst_at;
  double bound;
};

const Claim claims[] = {
    {"exp, x > 0", maths::exp, exact_exp, error_in_ulp, 1e-9, 88.7228317, 5.83689404, 0.892},
    {"exp, x < 0", maths::exp, exact_exp, error_in_ulp, -1e-9, -87.33, -5.84864187, 0.892},
    {"exp, denormal", maths::exp, exact_exp, error_in_ulp, -87.34, -103.97, -87.6962509, 0.858},
    {"log", maths::log, exact_log, error_in_ulp, smallest, largest, 1.2743293, 0.876},
    {"log near 1", maths::log, exact_log, error_in_ulp, 0.5, 2, 1.2743293, 0.876},
    {"tanh", maths::tanh, exact_tanh, error_in_ulp, smallest, 20, 1.00854242, 0.960},
    {"tanh, middle", maths::tanh, exact_tanh, error_in_ulp, -0.25, -4, -1.00854242, 0.960},
    {"erf", maths::erf, exact_erf, error_in_ulp, smallest, 6, 1.06200683, 1.083},
    {"erf, middle", maths::erf, exact_erf, error_in_ulp, -0.25, -4, -1.06200683, 1.083},
    {"sin", maths::sin, exact_sin, absolute_error, 1e-3, 300000, 4840.40771, 7.2e-8},
    {"sin, x < 0", maths::sin, exact_sin, absolute_error, -0.5, -1000, -25.9269447, 7.2e-8},
    {"cos", maths::cos, exact_cos, absolute_error, 1e-3, 300000, 3.92582464, 7.2e-8},
    {"cos, x < 0", maths::cos, exact_cos, absolute_error, -0.5, -1000, -3.92582464, 7.2e-8},
};

bool is_our_nan(Scalar y) { return maths::bits(y) == maths::bits(quiet_nan); }
bool same_bits(Scalar a, Scalar b) { return maths::bits(a) == maths::bits(b); }
Scalar next(Scalar x) { return std::nextafter(x, infinity); }

// The results for 65,536 floats of both signs and every exponent, NaN and infinity included, folded into one
// number (FNV-1a).
std::uint64_t fold(Ours f) {
  std::uint64_t hash = 14695981039346656037u;
  for (std::uint32_t i = 0; i < 65536; i++) {
    Scalar y = f(maths::from_bits(std::int32_t(i * 65537)));
    hash = (hash ^ std::uint32_t(maths::bits(y))) * 1099511628211u;
  }
  return hash;
}

}  // namespace

TEST_CASE("every function keeps the error its header states") {
  for (const Claim& c : claims) {
    std::int64_t first = maths::bits(c.from), last = maths::bits(c.to);
    double worst = 0;
    Scalar at = c.from;
    for (std::int64_t i = 0; i <= 40000; i++) {  // evenly over the exponents
      Scalar x = maths::from_bits(std::int32_t(first + (last - first) * i / 40000));
      double error = c.error(c.ours(x), c.exact(x));
      if (!(error <= worst)) {
        worst = error;
        at = x;
      }
    }
    CAPTURE(c.name, at);
    REQUIRE(worst <= c.bound);
  }
}

TEST_CASE("the stated errors are reached, so the table promises neither too much nor too little") {
  for (const Claim& c : claims) {
    double error = c.error(c.ours(c.worst_at), c.exact(c.worst_at));
    CAPTURE(c.name, c.worst_at);
    REQUIRE(error <= c.bound);
    REQUIRE(error >= 0.95 * c.bound);
  }
}

TEST_CASE("exp, log and cos are exact where a reader expects it") {
  REQUIRE(maths::exp(0) == 1);
  REQUIRE(maths::exp(-Scalar(0)) == 1);
  REQUIRE(same_bits(maths::log(1), 0));
  REQUIRE(maths::cos(0) == 1);
  REQUIRE(maths::cos(-Scalar(0)) == 1);
}

TEST_CASE("infinities, zero and negative numbers have their limits") {
  REQUIRE(maths::exp(infinity) == infinity);
  REQUIRE(same_bits(maths::exp(-infinity), 0));
  REQUIRE(maths::log(infinity) == infinity);
  REQUIRE(maths::log(0) == -infinity);
  REQUIRE(maths::log(-Scalar(0)) == -infinity);
  REQUIRE(maths::tanh(infinity) == 1);
  REQUIRE(maths::tanh(-infinity) == -1);
  REQUIRE(maths::erf(infinity) == 1);
  REQUIRE(maths::erf(-infinity) == -1);
  for (Scalar x : {Scalar(-1), -smallest, -largest, -infinity}) REQUIRE(is_our_nan(maths::log(x)));
  for (Scalar x : {infinity, -infinity}) {
    REQUIRE(is_our_nan(maths::sin(x)));
    REQUIRE(is_our_nan(maths::cos(x)));
  }
}

TEST_CASE("every NaN becomes the same NaN") {
  for (std::uint32_t pattern : {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0x7fffffffu, 0xffffffffu}) {
    Scalar x = maths::from_bits(std::int32_t(pattern));
    for (Ours f : {maths::exp, maths::log, maths::tanh, maths::erf, maths::sin, maths::cos}) {
      CAPTURE(pattern);
      REQUIRE(is_our_nan(f(x)));
    }
  }
}

TEST_CASE("exp underflows through the denormals and overflows at 88.72") {
  REQUIRE(same_bits(maths::exp(Scalar(-103.972076)), smallest));  // -150 ln 2 = -103.972077
  REQUIRE(same_bits(maths::exp(Scalar(-103.972084)), 0));
  REQUIRE(maths::exp(Scalar(88.7228317)) < infinity);  // 128 ln 2 = 88.722839
  REQUIRE(maths::exp(Scalar(88.7228394)) == infinity);
  for (Scalar x = -104; x < Scalar(-103.9); x = next(x)) REQUIRE(maths::exp(x) <= maths::exp(next(x)));
  for (Scalar x = Scalar(-87.34); x < Scalar(-87.33); x = next(x))
    REQUIRE(maths::exp(x) <= maths::exp(next(x)));
  for (Scalar x = Scalar(88.7); x < Scalar(88.73); x = next(x)) REQUIRE(maths::exp(x) <= maths::exp(next(x)));
}

TEST_CASE("log takes denormals") {
  const Scalar smallest_normal = std::numeric_limits<Scalar>::min();
  REQUIRE(maths::log(smallest) == Scalar(-103.278929903431851L));        // -149 ln 2
  REQUIRE(maths::log(smallest_normal) == Scalar(-87.336544750553109L));  // -126 ln 2
  REQUIRE(maths::log(std::nextafter(smallest_normal, Scalar(0))) <= maths::log(smallest_normal));
}

TEST_CASE("where two forms meet, nothing steps back") {
  for (Scalar x = Scalar(0.9999); x < Scalar(1.0001); x = next(x)) {
    REQUIRE(maths::tanh(x) <= maths::tanh(next(x)));
    REQUIRE(maths::erf(x) <= maths::erf(next(x)));
    REQUIRE(maths::log(x) <= maths::log(next(x)));
  }
}

TEST_CASE("tanh, erf and sin are odd and cos is even, to the bit") {
  for (std::uint32_t i = 0; i < 0x7f800000; i += 524309) {
    Scalar x = maths::from_bits(std::int32_t(i));
    CAPTURE(x);
    REQUIRE(same_bits(maths::tanh(-x), -maths::tanh(x)));
    REQUIRE(same_bits(maths::erf(-x), -maths::erf(x)));
    REQUIRE(same_bits(maths::sin(-x), -maths::sin(x)));
    REQUIRE(same_bits(maths::cos(-x), maths::cos(x)));
  }
}

TEST_CASE("no result leaves [-1, 1], however large the argument") {
  for (std::uint32_t i = 0; i < 0x7f800000; i += 524309) {
    Scalar x = maths::from_bits(std::int32_t(i));
    CAPTURE(x);
    for (Ours f : {maths::tanh, maths::erf, maths::sin, maths::cos}) REQUIRE(std::fabs(f(x)) <= 1);
  }
}

TEST_CASE("compilers, optimisation levels and processors agree on every bit") {
  REQUIRE(fold(maths::exp) == 0xd51865d00c1f3d19u);
  REQUIRE(fold(maths::log) == 0xb03428fe4b136071u);
  REQUIRE(fold(maths::tanh) == 0x873943a831964a27u);
  REQUIRE(fold(maths::erf) == 0x9f8df6ef80fca67bu);
  REQUIRE(fold(maths::sin) == 0xac0b1056ae95578du);
  REQUIRE(fold(maths::cos) == 0x540e5200b1b38d0eu);
}

#endif

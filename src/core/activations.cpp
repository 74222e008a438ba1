// Ops on one tensor, element by element. Each backward multiplies dy by the slope.
#include "core/elementwise.h"
#include "core/maths.h"
#include "core/ops.h"

namespace headway {

namespace {
Tensor saving_self(Result y) {
  y.save_self();
  return y.done();
}

Tensor saving(const Tensor& x, Result y) {
  y.save(x);
  return y.done();
}

void scale_backward(Node& y) {
  const Scalar factor = y.scalars[0];
  const Scalar* dy = y.grad_data();
  const GradientSum dx = y.parent_sum(0);
  parallel_for(y.size(), elements_per_thread, [=](int64_t from, int64_t to) {
    for_parts(dx, from, to, [=](int64_t i) { return factor * dy[i]; });
  });
}
}  // namespace

Tensor scale(const Tensor& x, Scalar factor) {
  Result y = unary("scale", x, scale_backward, [factor](Scalar v) { return factor * v; });
  y.scalars({factor});
  return y.done();
}

Tensor neg(const Tensor& x) {
  Result y = unary("neg", x, scale_backward, [](Scalar v) { return -v; });
  y.scalars({-1});
  return y.done();
}

namespace {
void exp_backward(Node& y) {  // (e^x)' = y
  unary_backward(y, [](Scalar v) { return v; });
}
}  // namespace

Tensor exp(const Tensor& x) {
  return saving_self(unary("exp", x, exp_backward, [](Scalar v) { return maths::exp(v); }));
}

namespace {
void log_backward(Node& y) {
  unary_backward(y, [](Scalar x) { return 1 / x; });
}
}  // namespace

Tensor log(const Tensor& x) {
  return saving(x, unary("log", x, log_backward, [](Scalar v) { return maths::log(v); }));
}

namespace {
void sqrt_backward(Node& y) {  // 1 / (2 sqrt x)
  unary_backward(y, [](Scalar v) { return Scalar(0.5) / v; });
}
}  // namespace

Tensor sqrt(const Tensor& x) {
  return saving_self(unary("sqrt", x, sqrt_backward, [](Scalar v) { return std::sqrt(v); }));
}

namespace {
Scalar power(Scalar x, Scalar p) {
  if (p < 0) return 1 / power(x, -p);
  if (p != std::floor(p)) return maths::exp(p * maths::log(x));
  if (p > 64) {
    const Scalar size = maths::exp(p * maths::log(std::abs(x)));
    return x < 0 && std::fmod(p, Scalar(2)) != 0 ? -size : size;
  }
  Scalar y = 1;
  for (int i = 0; i < int(p); i++) y *= x;
  return y;
}

void pow_backward(Node& y) {
  const Scalar p = y.scalars[0];
  unary_backward(y, [p](Scalar x) { return p == 0 ? 0 : p * power(x, p - 1); });
}
}  // namespace

Tensor pow(const Tensor& x, Scalar exponent) {
  Result y = unary("pow", x, pow_backward, [exponent](Scalar v) { return power(v, exponent); });
  y.scalars({exponent});
  return saving(x, y);
}

namespace {
void tanh_backward(Node& y) {  // 1 - y^2
  unary_backward(y, [](Scalar v) { return 1 - v * v; });
}
}  // namespace

Tensor tanh(const Tensor& x) {
  return saving_self(unary("tanh", x, tanh_backward, [](Scalar v) { return maths::tanh(v); }));
}

namespace {
void sigmoid_backward(Node& y) {  // y (1 - y)
  unary_backward(y, [](Scalar v) { return v * (1 - v); });
}
}  // namespace

Tensor sigmoid(const Tensor& x) {
  return saving_self(
      unary("sigmoid", x, sigmoid_backward, [](Scalar v) { return 1 / (1 + maths::exp(-v)); }));
}

namespace {
void relu_backward(Node& y) {
  unary_backward(y, [](Scalar x) { return x > 0 ? Scalar(1) : Scalar(0); });
}
}  // namespace

Tensor relu(const Tensor& x) {  // written so that a NaN stays one
  return saving(x, unary("relu", x, relu_backward, [](Scalar v) { return v <= 0 ? 0 : v; }));
}

namespace {
constexpr Scalar inverse_sqrt_2 = Scalar(0.70710678118654752);
constexpr Scalar inverse_sqrt_2pi = Scalar(0.39894228040143268);

void gelu_erf_backward(Node& y) {  // (1 + erf(x / sqrt 2)) / 2 + x e^(-x^2 / 2) / sqrt(2 pi)
  unary_backward(y, [](Scalar x) {
    const Scalar density = inverse_sqrt_2pi * maths::exp(Scalar(-0.5) * x * x);
    return fma(x, density, Scalar(0.5) * (1 + maths::erf(x * inverse_sqrt_2)));
  });
}
}  // namespace

Tensor gelu_erf(const Tensor& x) {
  return saving(x, unary("gelu_erf", x, gelu_erf_backward,
                         [](Scalar v) { return Scalar(0.5) * v * (1 + maths::erf(v * inverse_sqrt_2)); }));
}

namespace {
constexpr Scalar sqrt_2_over_pi = Scalar(0.79788456080286536);
constexpr Scalar cubic = Scalar(0.044715);

// (1 + tanh u) / 2 = 1 / (1 + e^(-2u)), with u = sqrt(2/pi) (x + 0.044715 x^3).
inline Scalar gelu_gate(Scalar x) {
  const Scalar u = sqrt_2_over_pi * x * fma(cubic * x, x, 1);
  return 1 / (1 + maths::exp(-2 * u));
}

void gelu_tanh_backward(Node& y) {  // gate + x 2 gate (1 - gate) u'
  unary_backward(y, [](Scalar x) {
    const Scalar gate = gelu_gate(x), turning = gate * (1 - gate);
    const Scalar du = sqrt_2_over_pi * fma(3 * cubic * x, x, 1);
    return turning == 0 ? gate
                        : fma(2 * x * du, turning, gate);  // far out du is infinite, and 0 times it NaN
  });
}
}  // namespace

Tensor gelu_tanh(const Tensor& x) {
  return saving(x, unary("gelu_tanh", x, gelu_tanh_backward, [](Scalar v) { return v * gelu_gate(v); }));
}

}  // namespace headway

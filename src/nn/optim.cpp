#include "nn/optim.h"

#include <algorithm>
#include <cmath>

#include "core/elementwise.h"
#include "core/kernels.h"
#include "core/maths.h"

namespace headway {

namespace {
std::vector<Tensor> zeros_like(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> out;
  for (const Tensor& p : parameters) out.push_back(Tensor::zeros(p.shape()));
  return out;
}
}  // namespace

void zero_grad(const std::vector<Tensor>& parameters) {
  for (const Tensor& p : parameters) p.zero_grad();
}

SGD::SGD(std::vector<Tensor> parameters, Scalar rate, Scalar momentum)
    : lr(rate), parameters_(std::move(parameters)), velocity_(zeros_like(parameters_)), momentum_(momentum) {}

void SGD::step() {
  for (size_t p = 0; p < parameters_.size(); p++) {
    const Tensor grad = parameters_[p].grad();
    const Scalar* g = grad.data();
    Scalar *w = parameters_[p].mutable_values().data(), *v = velocity_[p].mutable_values().data();
    for (int64_t i = 0; i < grad.size(); i++) {
      v[i] = fma(momentum_, v[i], g[i]);
      w[i] = fma(-lr, v[i], w[i]);
    }
  }
}

Adam::Adam(std::vector<Tensor> parameters, const Options& options)
    : lr(options.lr), parameters_(std::move(parameters)), m_(zeros_like(parameters_)),
      v_(zeros_like(parameters_)), options_(options) {}

namespace {
// The constants of one step, in the words of optim.h.
struct AdamConstants {
  Scalar keep, rate, beta1, beta2, correct_m, correct_v, eps;
};

// One step for every number. A copy of the constants and four arrays that do not overlap: the loop becomes
// vector code.
void adam_update(AdamConstants c, const Scalar* __restrict g, Scalar* __restrict w, Scalar* __restrict m,
                 Scalar* __restrict v, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    m[i] = fma(c.beta1, m[i], (1 - c.beta1) * g[i]);
    v[i] = fma(c.beta2, v[i], (1 - c.beta2) * g[i] * g[i]);
    w[i] = c.keep * w[i] - c.rate * (m[i] * c.correct_m) / (std::sqrt(v[i] * c.correct_v) + c.eps);
  }
}
}  // namespace

void Adam::step() {
  beta1_t_ *= double(options_.beta1);  // once a step, not once a parameter
  beta2_t_ *= double(options_.beta2);
  const AdamConstants constants = {.keep = 1 - lr * options_.weight_decay,
                                   .rate = lr,
                                   .beta1 = options_.beta1,
                                   .beta2 = options_.beta2,
                                   .correct_m = Scalar(1 / (1 - beta1_t_)),
                                   .correct_v = Scalar(1 / (1 - beta2_t_)),
                                   .eps = options_.eps};
  for (size_t p = 0; p < parameters_.size(); p++) {
    const Tensor grad = parameters_[p].grad();
    const Scalar* g = grad.data();
    Scalar *w = parameters_[p].mutable_values().data(), *m = m_[p].mutable_values().data(),
           *v = v_[p].mutable_values().data();
    parallel_for(grad.size(), elements_per_thread, [&](int64_t from, int64_t to) {
      adam_update(constants, g + from, w + from, m + from, v + from, to - from);
    });
  }
}

Scalar clip_grad_norm(const std::vector<Tensor>& parameters, Scalar max_norm) {
  Scalar squares = 0;
  for (const Tensor& p : parameters) {
    const Tensor g = p.grad();
    squares += row_dot(g.data(), g.data(), g.size());
  }
  const Scalar norm = std::sqrt(squares);
  const Scalar factor = max_norm / (norm + Scalar(1e-6));
  for (size_t p = 0; factor < 1 && p < parameters.size(); p++) {
    for (Tensor gradient = parameters[p].grad(); Scalar & g : gradient.mutable_values()) g *= factor;
  }
  return norm;
}

Scalar warmup(int step, int warmup_steps) {
  return step + 1 < warmup_steps ? Scalar(step + 1) / Scalar(warmup_steps) : 1;
}

Scalar cosine(int step, int steps, Scalar last) {
  const Scalar pi = Scalar(3.14159265358979324);
  const Scalar along = steps > 1 ? Scalar(step) / Scalar(steps - 1) : 0;
  return last + (1 - last) * Scalar(0.5) * (1 + maths::cos(pi * along));
}

}  // namespace headway

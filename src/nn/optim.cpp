#include "nn/optim.h"

#include <algorithm>
#include <cmath>
#include <limits>

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

// Each must collect a gradient, and stand there once.
void check_parameters(const char* op, const std::vector<Tensor>& parameters) {
  for (size_t i = 0; i < parameters.size(); i++) {
    const Tensor& p = parameters[i];
    if (!p.has_node()) {
      throw ValueError(Message(text(op, ": parameter ", i, " collects no gradient"))
                           .tensor("parameter", p.name(), p.shape())
                           .rule("what is trained is made with .requires_grad()"));
    }
    for (size_t earlier = 0; earlier < i; earlier++) {
      if (parameters[earlier].data() != p.data()) continue;
      throw ValueError(Message(text(op, ": parameters ", earlier, " and ", i, " are the same tensor"))
                           .tensor("parameter", p.name(), p.shape())
                           .rule("a parameter is given once, or it would be stepped twice"));
    }
  }
}

// A NaN has no sign.
std::string number_text(Scalar x) { return std::isnan(x) ? text("nan") : text(x); }

// least <= value < below
void check_option(const char* op, const char* option, Scalar value, double least, double below) {
  if (double(value) >= least && double(value) < below) return;
  throw ValueError(Message(text(op, ": ", option, " is ", number_text(value)))
                       .rule(text(option, " is at least ", least, " and below ", below)));
}

const double unbounded = std::numeric_limits<double>::infinity();
}  // namespace

void zero_grad(const std::vector<Tensor>& parameters) {
  for (const Tensor& p : parameters) p.zero_grad();
}

SGD::SGD(std::vector<Tensor> parameters, Scalar rate, Scalar momentum)
    : lr(rate), parameters_(std::move(parameters)), velocity_(zeros_like(parameters_)), momentum_(momentum) {
  check_parameters("SGD", parameters_);
  check_option("SGD", "lr", rate, 0, unbounded);
  check_option("SGD", "momentum", momentum, 0, 1);
}

void SGD::step() {
  for (size_t p = 0; p < parameters_.size(); p++) {
    if (!parameters_[p].has_grad()) continue;
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
      v_(zeros_like(parameters_)), options_(options) {
  check_parameters("Adam", parameters_);
  check_option("Adam", "lr", options.lr, 0, unbounded);
  check_option("Adam", "beta1", options.beta1, 0, 1);
  check_option("Adam", "beta2", options.beta2, 0, 1);
  if (!(options.eps > 0) || std::isinf(options.eps)) {
    throw ValueError(Message(text("Adam: eps is ", number_text(options.eps)))
                         .rule("eps is finite and above 0: with a gradient of 0 the step would be 0 / 0"));
  }
  check_option("Adam", "weight_decay", options.weight_decay, 0, unbounded);
}

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
    if (!parameters_[p].has_grad()) continue;
    const Tensor grad = parameters_[p].grad();
    const Scalar* g = grad.data();
    Scalar *w = parameters_[p].mutable_values().data(), *m = m_[p].mutable_values().data(),
           *v = v_[p].mutable_values().data();
    parallel_for(grad.size(), elements_per_thread, [&](int64_t from, int64_t to) {
      adam_update(constants, g + from, w + from, m + from, v + from, to - from);
    });
  }
}

namespace {
// The 2-norm of finite gradients whose squares overflow: that of the numbers divided by the largest, times
// it.
double norm_of_large(const std::vector<Tensor>& gradients) {
  double largest = 0, squares = 0;
  for (const Tensor& g : gradients) {
    for (Scalar x : g.values()) {
      largest = std::max(largest, std::abs(double(x)));
      if (std::isfinite(x)) continue;
      throw ValueError(Message(text("clip_grad_norm: '", g.name(), "' holds ", number_text(x)))
                           .tensor("gradient", g.name(), g.shape())
                           .rule("a gradient that is not finite has no norm; none was changed")
                           .hint("look at the loss, or lower the learning rate"));
    }
  }
  for (const Tensor& g : gradients) {
    for (Scalar x : g.values()) squares += double(x) / largest * (double(x) / largest);
  }
  return largest * std::sqrt(squares);
}
}  // namespace

Scalar clip_grad_norm(const std::vector<Tensor>& parameters, Scalar max_norm) {
  check_parameters("clip_grad_norm", parameters);
  if (!(max_norm > 0)) {
    throw ValueError(Message(text("clip_grad_norm: max_norm is ", number_text(max_norm)))
                         .rule("the largest norm that gradients may have is above 0"));
  }
  std::vector<Tensor> gradients;
  Scalar squares = 0;
  for (const Tensor& p : parameters) {
    if (!p.has_grad()) continue;
    gradients.push_back(p.grad());
    squares += row_dot(gradients.back().data(), gradients.back().data(), gradients.back().size());
  }
  const Scalar norm = std::isfinite(squares) ? std::sqrt(squares) : Scalar(norm_of_large(gradients));
  if (norm <= max_norm) return norm;
  const Scalar factor = max_norm / (norm + Scalar(1e-6));
  for (Tensor& gradient : gradients) {
    for (Scalar& g : gradient.mutable_values()) g *= factor;
  }
  return norm;
}

Scalar warmup(int step, int warmup_steps) {
  return step + 1 < warmup_steps ? Scalar(step + 1) / Scalar(warmup_steps) : 1;
}

Scalar cosine(int step, int steps, Scalar last) {
  const Scalar pi = Scalar(3.14159265358979324);
  const Scalar along = steps > 1 ? std::min(Scalar(step) / Scalar(steps - 1), Scalar(1)) : Scalar(0);
  return last + (1 - last) * Scalar(0.5) * (1 + maths::cos(pi * along));
}

}  // namespace headway

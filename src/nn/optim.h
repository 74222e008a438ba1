// What turns gradients into steps. Every optimiser updates its parameters in place, in the order given. One
// that no backward has reached since zero_grad is left as it is, decay included, as in PyTorch. A parameter
// given twice, or one that collects no gradient, is refused by name; so is an option out of its range.
#pragma once

#include <vector>

#include "core/tensor.h"

namespace headway {

void zero_grad(const std::vector<Tensor>& parameters);

// v = momentum v + g;   w -= lr v        (PyTorch's form: the first v is g)
class SGD {
public:
  explicit SGD(std::vector<Tensor> parameters, Scalar lr, Scalar momentum = 0);
  void step();

  Scalar lr;

private:
  std::vector<Tensor> parameters_;
  std::vector<Tensor> velocity_;
  Scalar momentum_;
};

// Adam (Kingma and Ba 2015); with weight_decay, AdamW (Loshchilov and Hutter 2019): decay acts on the weight
// itself, not through the gradient.
//   w -= lr weight_decay w
//   m = beta1 m + (1 - beta1) g          v = beta2 v + (1 - beta2) g^2
//   w -= lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)
// Where v / (1 - beta2^t) overflows, that number takes no step: in float after a first g above 1.8e19, while
// v is too large; above 5.8e20 v itself is infinite, for good.
//
// One t for all parameters; beta^t is kept by multiplying, so that it has the same bits everywhere.
// One step of floats ends within 1e-7 of long double, for weights within -1 .. 1 at lr 1e-3.
class Adam {
public:
  struct Options {
    Scalar lr = Scalar(1e-3);
    Scalar beta1 = Scalar(0.9);
    Scalar beta2 = Scalar(0.999);
    Scalar eps = Scalar(1e-8);
    Scalar weight_decay = 0;
  };
  Adam(std::vector<Tensor> parameters, const Options& options);
  void step();

  Scalar lr;

private:
  std::vector<Tensor> parameters_;
  std::vector<Tensor> m_, v_;
  Options options_;
  double beta1_t_ = 1, beta2_t_ = 1;  // beta^t
};

// Scales all gradients by max_norm / (norm + 1e-6), PyTorch's form, if their common 2-norm is above max_norm;
// else leaves them alone. Returns the norm before. ValueError, with nothing changed, for a max_norm that is
// not above 0 and for a gradient that holds infinity or NaN.
Scalar clip_grad_norm(const std::vector<Tensor>& parameters, Scalar max_norm);

// Learning-rate schedules: the factor for step 0 .. steps-1. Past the end the last one stays.
Scalar warmup(int step, int warmup_steps);            // rises in a line to 1 at step warmup_steps - 1
Scalar cosine(int step, int steps, Scalar last = 0);  // falls from 1 to `last` along half a cosine

}  // namespace headway

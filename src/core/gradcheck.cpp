#include "core/gradcheck.h"

#include <algorithm>
#include <cmath>

#include "core/node.h"
#include "core/ops.h"
#include "core/print.h"

namespace headway {

GradientCheck check_gradients(const char* name, OpUnderTest f, const std::vector<Tensor>& inputs,
                              double tolerance, bool spoil) {
  std::vector<Tensor> leaves;
  for (const Tensor& x : inputs) leaves.push_back(Tensor::from(x.shape(), x.values()).requires_grad());
  Tensor y = f(leaves);
  Random random(12345);
  const Tensor projection = Tensor::uniform(y.shape(), -1, 1, random);
  sum(y * projection).backward();
  std::vector<Tensor> gradients;
  for (const Tensor& leaf : leaves) gradients.push_back(leaf.grad());
  y = Tensor();
  if (spoil) {  // the largest element of the first gradient, by 0.1 %
    std::span<Scalar> g = gradients[0].mutable_values();
    *std::max_element(g.begin(), g.end(), [](Scalar a, Scalar b) { return std::abs(a) < std::abs(b); }) *=
        Scalar(1.001);
  }

  const NoGrad no_grad;
  int64_t checked = 0;
  GradientCheck check = {true, 0, text(name, ": nothing to check")};
  for (size_t p = 0; p < leaves.size(); p++) {
    for (int64_t i = 0; i < leaves[p].size(); i++) {
      const Scalar x = leaves[p].data()[i];
      // The step that balances rounding and curvature: about the cube root of the smallest relative
      // difference.
      const Scalar e = (sizeof(Scalar) == 8 ? Scalar(6e-6) : Scalar(5e-3)) * std::max(Scalar(1), std::abs(x));
      const auto projected = [&](Scalar value) {
        leaves[p].mutable_values()[size_t(i)] = value;
        const Tensor z = f(leaves);
        double total = 0;
        for (int64_t j = 0; j < z.size(); j++) total += double(z.data()[j]) * double(projection.data()[j]);
        return total;
      };
      const double difference = (projected(x + e) - projected(x - e)) / (double(x + e) - double(x - e));
      leaves[p].mutable_values()[size_t(i)] = x;
      const double backward = gradients[p].data()[i];
      const double largest = std::max({std::abs(backward), std::abs(difference), 1e-2});
      const double error = std::abs(backward - difference) / largest;
      if (checked++ > 0 && (error <= check.worst_error || std::isnan(check.worst_error))) continue;
      check.worst_error = error;
      check.report = text(name, ": input ", p, ", element ", i, ": backward ", number(backward, 9),
                          ", difference ", number(difference, 9), ", relative error ", error);
    }
  }
  check.passed = check.worst_error < tolerance;  // false for a NaN
  return check;
}

}  // namespace headway

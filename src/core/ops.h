// The catalogue of ops: formula, shapes, and what each saves for its backward. Every op here has a backward,
// standing right above it in the .cpp file, and a gradient check in tests/core/gradient_test.cpp.
// dy is the gradient of the result y. All throw ShapeError or ValueError for what does not fit.
//
// The largest error of a float against long double (for exp, log, tanh, erf and the like: maths.h):
//   softmax        5e-7 of each weight, for rows of 65 scores within -3 .. 3
//   layernorm      4e-7, for rows of 65 numbers within -3 .. 3
//   cross_entropy  9e-7 nats a row, same rows
//   gelu_tanh      6e-7, gelu_erf 5e-7, sigmoid 1.3e-7 of the result; all for x within -10 .. 10
#pragma once

#include "core/mask.h"
#include "core/tensor.h"

namespace headway {

// Elementwise on two tensors, with NumPy broadcasting: shapes are aligned at their last axes, and a size of 1
// (or a missing axis) is repeated. The gradient of a repeated operand is summed back to its own shape.
Tensor add(const Tensor& a, const Tensor& b);  // a + b          saves nothing
Tensor sub(const Tensor& a, const Tensor& b);  // a - b          saves nothing
Tensor mul(const Tensor& a, const Tensor& b);  // a * b          saves a, b
Tensor div(const Tensor& a, const Tensor& b);  // a / b          saves a, b
inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }

// Elementwise on one tensor; the result has the shape of x.
Tensor scale(const Tensor& x, Scalar factor);  // factor * x     saves nothing
Tensor neg(const Tensor& x);                   // -x             saves nothing
Tensor exp(const Tensor& x);                   // e^x            saves y
Tensor log(const Tensor& x);                   // ln x           saves x; -inf at 0, NaN below
// x^(1/2), saves y. Its slope at 0 is infinite, so sqrt(sum(x * x)) at x = 0 has a NaN for a gradient: add a
// small eps under the root.
Tensor sqrt(const Tensor& x);
// x^p, saves x. Whole p up to 64 by multiplying, else e^(p ln |x|), negative for a negative x and an odd p;
// NaN for a negative x and a p that is not whole.
Tensor pow(const Tensor& x, Scalar exponent);
Tensor tanh(const Tensor& x);     // (e^x - e^-x) / (e^x + e^-x)   saves y
Tensor sigmoid(const Tensor& x);  // 1 / (1 + e^-x)                saves y
Tensor relu(const Tensor& x);     // max(x, 0), slope 0 at 0       saves x
// x/2 (1 + erf(x / sqrt 2)), Hendrycks and Gimpel 2016; saves x.
Tensor gelu_erf(const Tensor& x);
// Their approximation x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))); saves x.
Tensor gelu_tanh(const Tensor& x);

// Shape. They move numbers and change none; nothing is saved.
Tensor reshape(const Tensor& x, Shape shape);  // same order; one size may be -1: what is left
Tensor permute(const Tensor& x, const std::vector<int>& axes);  // axis i of the result is axis axes[i] of x
Tensor transpose(const Tensor& x);                              // swaps the last two axes
Tensor concat(const std::vector<Tensor>& parts, int axis);      // equal sizes on every other axis
Tensor slice(const Tensor& x, int axis, int64_t start, int64_t stop);  // start .. stop-1 of one axis

// a [..., M, K], b [..., K, N] -> [..., M, N], sum over k of a_mk b_kn. The leading axes broadcast; a 2-d b
// serves all of them. A vector is refused: reshape says whether it is a row [1, K] or a column [K, 1].
// Saves a, b.   da = dy b^T   db = a^T dy
Tensor matmul(const Tensor& a, const Tensor& b);

// x weight + bias in one op, the same bits as matmul(x, weight) + bias.   x [..., K], weight [K, N], bias
// [N]. Saves x, weight.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias);

// Sums and means over the named axes, which disappear, or stay as size 1 with keep. No axes: over all, to
// shape [].
Tensor sum(const Tensor& x, const std::vector<int>& axes = {}, bool keep = false);
Tensor mean(const Tensor& x, const std::vector<int>& axes = {}, bool keep = false);

// Along the last axis: y_j = exp(x_j - max) / sum_k exp(x_k - max). Saves y.   dx = y (dy - sum_k y_k dy_k)
//   a row in which nothing is allowed, or all is -inf    zeros
//   a row with -inf in it                                0 there, the rest as if it were not there
//   a row with +inf or NaN in what is allowed            NaN where allowed; no other row changes
Tensor softmax(const Tensor& x);
Tensor softmax(const Tensor& x, const Allow& allow);  // only over what is allowed; the rest gets weight 0
Tensor softmax(const Tensor& x, const Bias& bias);    // of add(x, bias)

// Scores [..., T, S] plus a bias of shape [T, S] or of their own rank. Anything else is refused: without its
// head axis it would silently meet the wrong heads.
Tensor add(const Tensor& scores, const Bias& bias);
// x_j - max - log sum_k exp(x_k - max); a row of -inf only gives -inf, the log of softmax's zeros. Saves y.
Tensor log_softmax(const Tensor& x);

// Along the last axis: (x - mean) / sqrt(variance + eps) * weight + bias, with the population variance
// (divided by n). Ba, Kiros and Hinton 2016. weight and bias have the size of that axis. A row whose
// variance is above the largest float gives NaN. Saves x and weight, and mean and reciprocal root of each
// row.
Tensor layernorm(const Tensor& x, const Tensor& weight, const Tensor& bias, Scalar eps = Scalar(1e-5));

// Row `ids[i]` of table [V, D], for each i: shape `ids_shape` + [D]. Equal to one-hot rows times the table.
// ValueError for an id outside 0 .. V-1. Saves the ids.
Tensor embedding(const Tensor& table, const std::vector<int>& ids, const Shape& ids_shape);

// Keeps each number with probability 1 - p and divides it by 1 - p, else 0, so the mean stays. Saves what it
// kept.
Tensor dropout(const Tensor& x, Scalar p, Random& random);

// -log softmax(logits)[target] per row of logits [..., V], one target per row. Saves the softmax.
//   dlogits = (softmax - onehot(target)) dy / count
// Smoothing e replaces onehot by (1-e) onehot + e/V. Rows whose target is `ignore_index` count nowhere; a
// mean over no row at all is 0. `none` keeps one loss per row, in the shape of the targets: logits without
// the last axis.
enum class Reduction { mean, sum, none };
struct CrossEntropy {
  Reduction reduction = Reduction::mean;
  int ignore_index = -100;
  Scalar label_smoothing = 0;
};
Tensor cross_entropy(const Tensor& logits, const std::vector<int>& targets, const CrossEntropy& options = {});

}  // namespace headway

// Every op of core/ops.h against central differences: in the double build to 1e-7, in the float build as
// near as float differences come. The same table shows that each backward adds, that it leaves out an
// operand that wants no gradient, and that it reads no memory that nobody wrote.
#include <algorithm>
#include <cstring>
#include <limits>

#include "catch.h"
#include "core/gradcheck.h"
#include "core/node.h"
#include "core/ops.h"
#include "core/parallel.h"

using namespace headway;

namespace {

using In = std::span<const Tensor>;

enum class Numbers { both_signs, positive };

// One line of the table: an op, the shapes of its inputs, and what numbers go in.
struct Entry {
  const char* name;
  OpUnderTest f;
  std::vector<Shape> shapes;
  uint64_t seed = 1;  // another one where a gradient would be so near zero that differences drown in rounding
  Numbers numbers = Numbers::both_signs;

  // Both signs: 0.3 to 1.3 away from zero, so that no difference steps over a kink or a pole.
  std::vector<Tensor> inputs() const {
    Random random(seed);
    std::vector<Tensor> made;
    for (const Shape& shape : shapes) {
      const bool both = numbers == Numbers::both_signs;
      Tensor x = Tensor::uniform(shape, both ? -1 : Scalar(0.5), both ? 1 : 2, random);
      for (Scalar& v : x.mutable_values()) v += both ? (v < 0 ? Scalar(-0.3) : Scalar(0.3)) : 0;
      made.push_back(x);
    }
    return made;
  }
};

// ---- forms that need more than one expression

template <int... axes>
Tensor sum_over(In in) {
  return sum(in[0], {axes...});
}

template <int... axes>
Tensor sum_kept(In in) {
  return sum(in[0], {axes...}, true);
}

template <int... axes>
Tensor mean_over(In in) {
  return mean(in[0], {axes...});
}

template <int... axes>
Tensor mean_kept(In in) {
  return mean(in[0], {axes...}, true);
}

template <int... axes>
Tensor permuted(In in) {
  return permute(in[0], {axes...});
}

template <int... sizes>
Tensor reshaped(In in) {
  return reshape(in[0], {sizes...});
}

template <int axis>
Tensor concat_all(In in) {
  return concat(std::vector<Tensor>(in.begin(), in.end()), axis);
}

Tensor concat_twice(In in) { return concat({in[0], in[1], in[0]}, 1); }

// [4, 5]: one key blocked, a row with a single key, and a row with none.
Allow holes() { return {{4, 5}, {1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0}}; }

Tensor softmax_per_item(In in) {
  const std::vector<int> lengths = {2, 5};
  return softmax(in[0], Allow::lengths(lengths, 5));  // [B, h, T, S]
}

Tensor softmax_biased(In in) { return softmax(in[0], Bias{in[1]}); }

Tensor embed(In in) { return embedding(in[0], {4, 1, 4, 0, 2, 4}, {2, 3}); }

Tensor drop(In in) {
  Random random(3);
  return dropout(in[0], Scalar(0.4), random);
}

template <Reduction reduction, int smoothing_in_tenths>
Tensor loss(In in) {
  return cross_entropy(in[0], {4, 0, 2, -100, 1, 0},
                       {.reduction = reduction, .label_smoothing = Scalar(smoothing_in_tenths) / 10});
}

Tensor loss_without_class_0(In in) {
  return cross_entropy(in[0], {4, 0, 2}, {.reduction = Reduction::sum, .ignore_index = 0});
}

// Causal attention: q, k, v are [B, h, T, d_h].
Tensor attend(In in) {
  const Tensor scores = scale(matmul(in[0], transpose(in[1])), Scalar(0.5));  // [B, h, T, T]
  const Tensor pattern = softmax(scores, Allow::causal(4, 4, 0));             // [B, h, T, T]
  const Tensor z = permute(matmul(pattern, in[2]), {0, 2, 1, 3});             // [B, T, h, d_h]
  return reshape(z, {2, 4, -1});                                              // [B, T, D]
}

// ---- the table

std::vector<Entry> elementwise_ops() {
  const OpUnderTest plus = [](In in) { return in[0] + in[1]; };
  const OpUnderTest minus = [](In in) { return in[0] - in[1]; };
  const OpUnderTest times = [](In in) { return in[0] * in[1]; };
  const OpUnderTest over = [](In in) { return in[0] / in[1]; };
  return {
      {"add, equal shapes", plus, {{3, 4}, {3, 4}}},
      {"add, one row", plus, {{3, 4}, {1, 4}}},
      {"add, a missing axis", plus, {{2, 3, 4}, {4}}},
      {"add, a middle axis", plus, {{2, 3, 4}, {2, 1, 4}}},
      {"add, both repeated", plus, {{2, 1, 4}, {3, 1}}},
      {"add, a scalar on the right", plus, {{3, 4}, {}}},
      {"add, a scalar on the left", plus, {{}, {3, 4}}},
      {"add, two scalars", plus, {{}, {}}},
      {"sub, equal shapes", minus, {{3, 4}, {3, 4}}},
      {"sub, rows from one row", minus, {{1, 4}, {3, 4}}},
      {"sub, one column", minus, {{2, 3, 4}, {3, 1}}},
      {"sub, a scalar", minus, {{3, 4}, {}}},
      {"mul, equal shapes", times, {{3, 4}, {3, 4}}},
      {"mul, column times row", times, {{4, 1}, {1, 4}}},
      {"mul, outer axes apart", times, {{2, 1, 4}, {3, 1}}},
      {"mul, five axes", times, {{2, 1, 3, 1, 4}, {5, 1, 2, 4}}},
      {"mul, a scalar on the left", times, {{}, {3, 4}}},
      {"mul, by itself", [](In in) { return in[0] * in[0]; }, {{3, 4}}},
      {"div, equal shapes", over, {{3, 4}, {3, 4}}},
      {"div, by one row", over, {{3, 4}, {1, 4}}},
      {"div, one column by rows", over, {{3, 1}, {3, 4}}},
      {"div, by a scalar", over, {{3, 4}, {}}},
      {"div, a scalar by rows", over, {{}, {3, 4}}},
      {"scale", [](In in) { return scale(in[0], Scalar(-2.5)); }, {{3, 4}}},
      {"neg", [](In in) { return neg(in[0]); }, {{3, 4}}},
      {"exp", [](In in) { return exp(in[0]); }, {{3, 4}}},
      {"log", [](In in) { return log(in[0]); }, {{3, 4}}, 1, Numbers::positive},
      {"sqrt", [](In in) { return sqrt(in[0]); }, {{3, 4}}, 1, Numbers::positive},
      {"pow 3", [](In in) { return pow(in[0], 3); }, {{3, 4}}},
      {"pow 1", [](In in) { return pow(in[0], 1); }, {{3, 4}}},
      {"pow -1", [](In in) { return pow(in[0], -1); }, {{3, 4}}},
      {"pow -2", [](In in) { return pow(in[0], -2); }, {{3, 4}}},
      {"pow 1.5", [](In in) { return pow(in[0], Scalar(1.5)); }, {{3, 4}}, 1, Numbers::positive},
      {"pow 0.5", [](In in) { return pow(in[0], Scalar(0.5)); }, {{3, 4}}, 1, Numbers::positive},
      {"pow -0.5", [](In in) { return pow(in[0], Scalar(-0.5)); }, {{3, 4}}, 1, Numbers::positive},
      {"tanh", [](In in) { return tanh(in[0]); }, {{3, 4}}},
      {"sigmoid", [](In in) { return sigmoid(in[0]); }, {{3, 4}}},
      {"relu", [](In in) { return relu(in[0]); }, {{3, 4}}},
      {"gelu_erf", [](In in) { return gelu_erf(in[0]); }, {{3, 4}}},
      {"gelu_tanh", [](In in) { return gelu_tanh(in[0]); }, {{3, 4}}, 110},
  };
}

std::vector<Entry> shape_ops() {
  return {
      {"reshape", reshaped<4, 6>, {{2, 3, 4}}},
      {"reshape with -1", reshaped<3, -1>, {{2, 3, 4}}},
      {"permute", permuted<2, 0, 1>, {{2, 3, 4}}},
      {"permute from the end", permuted<-1, 0, -2>, {{2, 3, 4}}},
      {"permute, four axes", permuted<1, 3, 0, 2>, {{2, 5, 3, 4}}},
      {"transpose", [](In in) { return transpose(in[0]); }, {{3, 4}}},
      {"transpose, batched", [](In in) { return transpose(in[0]); }, {{2, 3, 4}}},
      {"concat, first axis", concat_all<0>, {{2, 3}, {4, 3}}},
      {"concat, middle axis", concat_all<1>, {{2, 3, 4}, {2, 1, 4}, {2, 5, 4}}},
      {"concat, last axis", concat_all<-1>, {{2, 3, 4}, {2, 3, 5}}},
      {"concat, one part twice", concat_twice, {{2, 3}, {2, 4}}},
      {"slice, first axis", [](In in) { return slice(in[0], 0, 1, 3); }, {{5, 3, 4}}},
      {"slice, middle axis", [](In in) { return slice(in[0], 1, 2, 5); }, {{2, 5, 3}}},
      {"slice, last axis", [](In in) { return slice(in[0], -1, 1, 3); }, {{2, 3, 4}}},
  };
}

std::vector<Entry> product_ops() {
  const OpUnderTest product = [](In in) { return matmul(in[0], in[1]); };
  return {
      {"matmul", product, {{3, 4}, {4, 5}}},
      {"matmul, one row", product, {{1, 4}, {4, 5}}},
      {"matmul, batched", product, {{2, 3, 4}, {2, 4, 5}}},
      {"matmul, two leading axes", product, {{2, 3, 4, 5}, {2, 3, 5, 6}}},
      {"matmul, left repeated", product, {{1, 3, 4}, {2, 4, 5}}},
      {"matmul, right repeated", product, {{2, 3, 4}, {1, 4, 5}}},
      {"matmul, both repeated", product, {{2, 1, 3, 4}, {6, 4, 5}}},
      {"matmul, 2-d right", product, {{2, 3, 4}, {4, 5}}},
      {"matmul, 2-d left", product, {{3, 4}, {2, 4, 5}}},
      {"linear", [](In in) { return linear(in[0], in[1], in[2]); }, {{2, 3, 4}, {4, 5}, {5}}},
      {"linear, one row", [](In in) { return linear(in[0], in[1], in[2]); }, {{1, 4}, {4, 5}, {5}}},
      {"matmul, by its transpose", [](In in) { return matmul(in[0], transpose(in[0])); }, {{2, 3, 4}}},
      {"attention", attend, {{2, 3, 4, 5}, {2, 3, 4, 5}, {2, 3, 4, 6}}, 34},
  };
}

std::vector<Entry> reductions() {
  return {
      {"sum over all", sum_over<>, {{2, 3, 4}}},
      {"sum over the first axis", sum_over<0>, {{2, 3, 4}}},
      {"sum over a middle axis", sum_over<1>, {{2, 3, 4}}},
      {"sum over the last axis", sum_over<-1>, {{2, 3, 4}}},
      {"sum over first and last", sum_over<0, 2>, {{2, 3, 4}}},
      {"sum over a middle axis, kept", sum_kept<1>, {{2, 3, 4}}},
      {"sum over the last two, kept", sum_kept<-1, -2>, {{2, 3, 4}}},
      {"mean over all", mean_over<>, {{2, 3, 4}}},
      {"mean over the first axis", mean_over<0>, {{2, 3, 4}}},
      {"mean over two middle axes", mean_over<1, 2>, {{2, 3, 5, 4}}},
      {"mean over all, kept", mean_kept<>, {{2, 3, 4}}},
      {"mean over the last axis, kept", mean_kept<2>, {{2, 3, 4}}},
      {"mean over axes 2 and 0, kept", mean_kept<2, 0>, {{2, 3, 4}}},
  };
}

std::vector<Entry> row_ops() {
  const OpUnderTest norm = [](In in) { return layernorm(in[0], in[1], in[2]); };
  const OpUnderTest blunt_norm = [](In in) { return layernorm(in[0], in[1], in[2], Scalar(0.5)); };
  return {
      {"softmax", [](In in) { return softmax(in[0]); }, {{2, 3, 5}}, 176},
      {"softmax, long rows", [](In in) { return softmax(in[0]); }, {{3, 19}}, 242},
      {"softmax, Allow", [](In in) { return softmax(in[0], holes()); }, {{2, 3, 4, 5}}},
      {"softmax, Allow per item", softmax_per_item, {{2, 3, 4, 5}}, 280},
      {"softmax, Bias", softmax_biased, {{2, 3, 4, 5}, {4, 5}}, 31},
      {"softmax, Bias per head", softmax_biased, {{2, 3, 4, 5}, {1, 3, 4, 5}}, 50},
      {"log_softmax", [](In in) { return log_softmax(in[0]); }, {{2, 3, 5}}, 58},
      {"layernorm", norm, {{2, 3, 5}, {5}, {5}}},
      {"layernorm, large eps", blunt_norm, {{3, 9}, {9}, {9}}},
      {"embedding", embed, {{5, 4}}},
      {"dropout", drop, {{3, 4}}},
      {"cross_entropy, mean", loss<Reduction::mean, 0>, {{2, 3, 5}}},
      {"cross_entropy, sum", loss<Reduction::sum, 0>, {{2, 3, 5}}},
      {"cross_entropy, none", loss<Reduction::none, 0>, {{2, 3, 5}}},
      {"cross_entropy, mean, smoothing", loss<Reduction::mean, 2>, {{6, 5}}, 45},
      {"cross_entropy, none, smoothing", loss<Reduction::none, 2>, {{2, 3, 5}}},
      {"cross_entropy, class 0 ignored", loss_without_class_0, {{3, 5}}},
      {"cross_entropy, one row", [](In in) { return cross_entropy(in[0], {1}); }, {{3}}},
  };
}

std::vector<Entry> every_op() {
  std::vector<Entry> all;
  for (const auto& part : {elementwise_ops(), shape_ops(), product_ops(), reductions(), row_ops()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

#ifdef SCALAR_DOUBLE
constexpr double tolerance = 1e-7;
#else
constexpr double tolerance = 2e-2;
#endif

std::vector<Tensor> as_leaves(const std::vector<Tensor>& inputs) {
  std::vector<Tensor> leaves;
  for (const Tensor& x : inputs) leaves.push_back(Tensor::from(x.shape(), x.values()).requires_grad());
  return leaves;
}

// One forward and backward through a projection that weighs every number of the result differently.
Tensor run(OpUnderTest f, const std::vector<Tensor>& inputs) {
  const Tensor y = f(inputs);
  Tensor weights = Tensor::zeros(y.shape());
  Scalar w = Scalar(0.5);
  for (Scalar& x : weights.mutable_values()) x = w = Scalar(1.5) - w * w;  // a chaotic map: no two alike
  sum(y * weights).backward();
  return y;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::memcmp(a.data(), b.data(), size_t(a.size()) * sizeof(Scalar)) == 0;
}

// Fills the memory that the next tensors will get with NaN.
void soil_memory() {
  std::vector<Tensor> dirt;
  for (int64_t size = 1; size < 2000; size += 1 + size / 8) {
    for (int i = 0; i < 8; i++) {
      dirt.push_back(Tensor::full({size}, std::numeric_limits<Scalar>::quiet_NaN()));
    }
  }
}

}  // namespace

TEST_CASE("every op's backward agrees with central differences") {
  double worst = 0;
  for (const Entry& op : every_op()) {
    const GradientCheck check = check_gradients(op.name, op.f, op.inputs(), tolerance);
    worst = std::max(worst, check.worst_error);
    INFO(check.report);
    CHECK(check.passed);
  }
  CAPTURE(worst);
  CHECK(worst > 0);  // differences are never exact: a harness that compares nothing would say 0
}

#ifdef SCALAR_DOUBLE
TEST_CASE("a gradient that is wrong by a thousandth in one element is rejected, for every op") {
  for (const Entry& op : every_op()) {
    const GradientCheck check = check_gradients(op.name, op.f, op.inputs(), tolerance, true);
    INFO(check.report);
    CHECK_FALSE(check.passed);
    CHECK(check.worst_error == Approx(1e-3).epsilon(0.01));
  }
}
#endif

TEST_CASE("every op's backward adds to what is there") {
  for (const Entry& op : every_op()) {
    const std::vector<Tensor> leaves = as_leaves(op.inputs());
    run(op.f, leaves);
    std::vector<Tensor> once;
    for (const Tensor& x : leaves) once.push_back(Tensor::from(x.shape(), x.grad().values()));
    run(op.f, leaves);
    for (size_t p = 0; p < leaves.size(); p++) {
      for (int64_t i = 0; i < leaves[p].size(); i++) {
        CAPTURE(op.name, p, i);
        CHECK(leaves[p].grad().data()[i] == Approx(2 * once[p].data()[i]).epsilon(1e-5).margin(1e-6));
      }
    }
  }
}

TEST_CASE("an operand without a gradient changes nothing for the others") {
  for (const Entry& op : every_op()) {
    const std::vector<Tensor> all = as_leaves(op.inputs());
    run(op.f, all);
    for (size_t p = 0; p < all.size(); p++) {
      std::vector<Tensor> inputs = op.inputs();
      inputs[p] = inputs[p].requires_grad();
      run(op.f, inputs);
      CAPTURE(op.name, p);
      CHECK(same_bits(inputs[p].grad(), all[p].grad()));
    }
  }
}

TEST_CASE("inside NoGrad every op computes the same and leaves no node") {
  for (const Entry& op : every_op()) {
    const std::vector<Tensor> leaves = as_leaves(op.inputs());
    const Tensor recorded = op.f(leaves);
    const NoGrad no_grad;
    const int64_t nodes = live_nodes();
    const Tensor y = op.f(leaves);
    CAPTURE(op.name);
    CHECK(recorded.has_node());
    CHECK_FALSE(y.has_node());
    CHECK(live_nodes() == nodes);
    CHECK(same_bits(y, recorded));
  }
}

TEST_CASE("no op and no backward reads memory that nobody wrote") {
  for (const Entry& op : every_op()) {
    const std::vector<Tensor> clean = as_leaves(op.inputs()), soiled = as_leaves(op.inputs());
    const Tensor expected = run(op.f, clean);
    soil_memory();
    const Tensor y = run(op.f, soiled);
    CAPTURE(op.name);
    CHECK(same_bits(y, expected));
    for (size_t p = 0; p < clean.size(); p++) CHECK(same_bits(soiled[p].grad(), clean[p].grad()));
  }
}

TEST_CASE("a matrix that serves several products collects its gradient in one order, however many threads") {
  const int threads = thread_count();
  const Entry right = {
      "right repeated", [](In in) { return matmul(in[0], in[1]); }, {{20, 3, 60, 40}, {1, 3, 40, 30}}};
  const Entry left = {"left repeated", right.f, {{3, 60, 40}, {20, 3, 40, 30}}};
  for (const Entry& op : {right, left}) {
    set_thread_count(1);
    const std::vector<Tensor> alone = as_leaves(op.inputs());
    run(op.f, alone);
    set_thread_count(3);
    for (int i = 0; i < 10; i++) {
      const std::vector<Tensor> shared = as_leaves(op.inputs());
      run(op.f, shared);
      CAPTURE(op.name, i);
      for (size_t p = 0; p < 2; p++) CHECK(same_bits(shared[p].grad(), alone[p].grad()));
    }
  }
  set_thread_count(threads);
}

// ---- ops of one's own, right and wrong

namespace {

// x^3 with a backward to choose.
Tensor cube(const Tensor& x, Backward backward) {
  Result y("cube", x.shape(), {x}, backward);
  for (int64_t i = 0; i < x.size(); i++) y.data()[i] = x.data()[i] * x.data()[i] * x.data()[i];
  y.save(x);
  return y.done();
}

void add_slope(Node& y, Scalar factor) {
  const Scalar *x = y.saved[0].data(), *dy = y.grad_data();
  Scalar* dx = y.parent_grad(0);
  for (int64_t i = 0; i < y.size(); i++) dx[i] += factor * x[i] * x[i] * dy[i];
}

void right_backward(Node& y) { add_slope(y, 3); }
void wrong_sign(Node& y) { add_slope(y, -3); }
void wrong_factor(Node& y) { add_slope(y, 2); }
void writes_nothing(Node&) {}

void forgets_dy(Node& y) {
  const Scalar* x = y.saved[0].data();
  Scalar* dx = y.parent_grad(0);
  for (int64_t i = 0; i < y.size(); i++) dx[i] += 3 * x[i] * x[i];
}

void forgets_the_last(Node& y) {
  const Scalar *x = y.saved[0].data(), *dy = y.grad_data();
  Scalar* dx = y.parent_grad(0);
  for (int64_t i = 0; i + 1 < y.size(); i++) dx[i] += 3 * x[i] * x[i] * dy[i];
}

void makes_nan(Node& y) { y.parent_grad(0)[0] = std::numeric_limits<Scalar>::quiet_NaN(); }

void assigns(Node& y) {
  const Scalar *x = y.saved[0].data(), *dy = y.grad_data();
  Scalar* dx = y.parent_grad(0);
  for (int64_t i = 0; i < y.size(); i++) dx[i] = 3 * x[i] * x[i] * dy[i];
}

// Softmax whose backward writes nothing: through a plain sum of the result nobody would notice, since the
// rows always sum to 1.
Tensor lazy_softmax(In in) {
  const Tensor weights = softmax(in[0].detach());
  Result y("lazy_softmax", weights.shape(), {in[0]}, writes_nothing);
  std::copy_n(weights.data(), weights.size(), y.data());
  return y.done();
}

}  // namespace

TEST_CASE("a new op with the right backward is accepted") {
  const Entry op = {"cube", [](In in) { return cube(in[0], right_backward); }, {{2, 3}}};
  const GradientCheck check = check_gradients(op.name, op.f, op.inputs(), tolerance);
  INFO(check.report);
  CHECK(check.passed);
}

TEST_CASE("a wrong backward is rejected, and the report says where") {
  const std::vector<Entry> wrong = {
      {"wrong sign", [](In in) { return cube(in[0], wrong_sign); }, {{2, 3}}},
      {"wrong factor", [](In in) { return cube(in[0], wrong_factor); }, {{2, 3}}},
      {"writes nothing", [](In in) { return cube(in[0], writes_nothing); }, {{2, 3}}},
      {"forgets dy", [](In in) { return cube(in[0], forgets_dy); }, {{2, 3}}},
      {"forgets the last element", [](In in) { return cube(in[0], forgets_the_last); }, {{2, 3}}},
      {"makes a NaN", [](In in) { return cube(in[0], makes_nan); }, {{2, 3}}},
      {"assigns instead of adding", [](In in) { return cube(in[0], assigns) + in[0]; }, {{2, 3}}},
      {"softmax that writes nothing", lazy_softmax, {{2, 3}}},
  };
  for (const Entry& op : wrong) {
    const GradientCheck check = check_gradients(op.name, op.f, op.inputs(), tolerance);
    INFO(check.report);
    CHECK_FALSE(check.passed);
    CHECK(check.report.find(std::string(op.name) + ": input 0, element ") == 0);
  }
}

TEST_CASE("the report names op, input, element, both values and the error") {
  const Tensor x = Tensor::from({1}, {2});  // [1]
  const GradientCheck check = check_gradients(
      "halved", [](In in) { return in[1] * scale(in[0], 1) + in[1].detach(); }, {x, Tensor::from({1}, {4})},
      tolerance);
  CHECK_FALSE(check.passed);  // the detached use of input 1 is missing from its gradient
  CHECK(check.report.find("halved: input 1, element 0: backward ") == 0);
  CHECK(check.report.find(", difference ") != std::string::npos);
  CHECK(check.report.find(", relative error 0.3333") != std::string::npos);
}

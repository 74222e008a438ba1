// Linear, Embedding, LayerNorm and MLP against PyTorch: results and every gradient; how they start.
#include "nn/module.h"

#include <algorithm>

#include "catch.h"
#include "figures.h"
#include "helpers.h"

using namespace headway;

TEST_CASE("Linear is PyTorch's, forward and backward") {
  Random random(1);
  const Linear linear(4, 5, true, random);
  load(linear.parameters(), "linear");
  const Tensor x = tensor("linear.x").requires_grad();
  check_results("linear", x, linear(x), linear.parameters());
  const Linear without(4, 5, false, random);
  CHECK(names(without.parameters()) == std::vector<std::string>{"weight"});
  CHECK(same_bits(without(x), matmul(x, without.weight)));
}

TEST_CASE("Embedding is PyTorch's: rows of the table, and gradients of repeated ids add up") {
  Random random(2);
  const Embedding tok(5, 3, random);
  load(tok.parameters(), "tok");
  check_results("tok", {}, tok(whole_numbers("tok.ids"), {2, 3}), tok.parameters());
}

TEST_CASE("LayerNorm is PyTorch's, forward and backward") {
  const LayerNorm norm(6);
  load(norm.parameters(), "norm");
  const Tensor x = tensor("norm.x").requires_grad();
  check_results("norm", x, norm(x), norm.parameters());
}

TEST_CASE("MLP is PyTorch's, with each activation") {
  Random random(3);
  for (const auto& [name, activation] :
       {std::pair("mlp.relu", Activation::relu), std::pair("mlp.gelu_erf", Activation::gelu_erf),
        std::pair("mlp.gelu_tanh", Activation::gelu_tanh)}) {
    const MLP mlp(4, 3, activation, random);
    load(mlp.parameters(), "mlp");
    const Tensor x = tensor("mlp.x").requires_grad();
    check_results(name, x, mlp(x), mlp.parameters());
  }
}

TEST_CASE("layers start as PyTorch's do, and a copy shares its numbers") {
  Random random(7);
  const Linear linear(16, 300, true, random);
  for (const Tensor& t : {linear.weight, linear.bias}) {
    Scalar least = 1, most = -1;
    for (Scalar x : t.values()) least = std::min(least, x), most = std::max(most, x);
    CHECK(least >= Scalar(-0.25));  // 1 / sqrt(16)
    CHECK(most < Scalar(0.25));
    CHECK(least < Scalar(-0.24));
    CHECK(most > Scalar(0.24));
  }
  const Embedding table(200, 50, random);
  CHECK(double(mean(table.weight).item()) == Approx(0).margin(0.03));
  CHECK(double(mean(table.weight * table.weight).item()) == Approx(1).margin(0.03));
  const LayerNorm norm(3);
  CHECK(numbers(norm.weight) == std::vector<double>{1, 1, 1});
  CHECK(numbers(norm.bias) == std::vector<double>{0, 0, 0});
  const Linear copy = linear;
  assign(copy.weight, {42});
  CHECK(linear.weight.at({0, 0}) == 42);
}

// Threads split the output, never a sum: their number changes no bit.
#include <cstring>
#include <vector>

#include "catch.h"
#include "core/node.h"
#include "core/ops.h"
#include "core/parallel.h"
#include "nn/optim.h"
#include "nn/transformer.h"
#include "threads.h"

#ifndef SCALAR_DOUBLE

using namespace headway;

namespace {

bool same_bits(const std::vector<Scalar>& a, const std::vector<Scalar>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Scalar)) == 0;
}

void append(std::vector<Scalar>& to, const Tensor& t) {
  to.insert(to.end(), t.values().begin(), t.values().end());
}

// Result and gradients of sum(f * projection), one after the other.
template <class F>
std::vector<Scalar> run(const std::vector<Shape>& shapes, F f) {
  Random random(11);
  std::vector<Tensor> in;
  for (const Shape& shape : shapes) in.push_back(Tensor::uniform(shape, -2, 2, random).requires_grad());
  const Tensor y = f(in);
  sum(y * Tensor::uniform(y.shape(), -1, 1, random)).backward();
  std::vector<Scalar> out;
  append(out, y);
  for (const Tensor& x : in) append(out, x.grad());
  return out;
}

using Op = Tensor (*)(const std::vector<Tensor>&);
struct Case {
  const char* name;
  std::vector<Shape> shapes;  // large enough for every op to be shared between 5 threads
  Op f;
};

Tensor matmul_of(const std::vector<Tensor>& in) { return matmul(in[0], in[1]); }
Tensor softmax_of(const std::vector<Tensor>& in) { return softmax(in[0]); }
Tensor causal_softmax_of(const std::vector<Tensor>& in) {
  return softmax(in[0], Allow::causal(in[0].dim(-2), in[0].dim(-1), 0));
}
Tensor layernorm_of(const std::vector<Tensor>& in) { return layernorm(in[0], in[1], in[2]); }
Tensor activations_of(const std::vector<Tensor>& in) { return gelu_tanh(in[0]) * tanh(in[1]) + in[2]; }
Tensor cross_entropy_of(const std::vector<Tensor>& in) {
  std::vector<int> targets;
  for (int64_t r = 0; r < in[0].dim(0); r++) targets.push_back(r % 9 == 0 ? -100 : int(r % in[0].dim(1)));
  return cross_entropy(in[0], targets, {.label_smoothing = Scalar(0.1)});
}
Tensor attention_of(const std::vector<Tensor>& in) {
  return attention(in[0], in[1], in[2], {.is_causal = true}).z;
}

const Case cases[] = {
    {"matmul, batched", {{7, 61, 40}, {7, 40, 83}}, matmul_of},
    {"matmul, one weight for all", {{6, 61, 40}, {40, 83}}, matmul_of},
    {"matmul, one left side for all", {{61, 40}, {6, 40, 83}}, matmul_of},
    {"matmul, tall", {{997, 64}, {64, 33}}, matmul_of},
    {"softmax", {{5, 200, 67}}, softmax_of},
    {"softmax, causal", {{5, 90, 90}}, causal_softmax_of},
    {"layernorm", {{5, 160, 61}, {61}, {61}}, layernorm_of},
    {"activations", {{90, 1000}, {90, 1000}, {1000}}, activations_of},
    {"cross entropy", {{1500, 43}}, cross_entropy_of},
    {"attention", {{2, 3, 110, 20}, {2, 3, 110, 20}, {2, 3, 110, 20}}, attention_of},
};

std::vector<Scalar> train_transformer() {
  Random random(5);
  const Transformer model({.vocab_size = 40,
                           .context = 24,
                           .num_layers = 1,
                           .block = {.embed_dim = 60, .num_heads = 4, .mlp_dim = 200}},
                          random);
  const std::vector<Tensor> weights = tensors(model.parameters());
  Adam adam(weights, {.lr = Scalar(1e-2), .weight_decay = Scalar(0.1)});
  for (int step = 0; step < 2; step++) {
    std::vector<int> tokens, targets;
    for (int i = 0; i < 6 * 24; i++) {
      tokens.push_back(random.below(40));
      targets.push_back(random.below(40));
    }
    zero_grad(weights);
    cross_entropy(model(tokens, 6, 24), targets).backward();
    clip_grad_norm(weights, Scalar(0.5));
    adam.step();
  }
  std::vector<Scalar> out;
  for (const Tensor& w : weights) append(out, w);
  return out;
}

}  // namespace

TEST_CASE("1, 2, 3 and 5 threads give the same bits, forward and backward") {
  const Threads restore;
  for (const Case& c : cases) {
    set_thread_count(1);
    const std::vector<Scalar> one = run(c.shapes, c.f);
    for (int threads : {2, 3, 5}) {
      set_thread_count(threads);
      CAPTURE(c.name, threads);
      REQUIRE(same_bits(run(c.shapes, c.f), one));
    }
  }
}

TEST_CASE("1, 2, 3 and 5 threads train a transformer to the same bits") {
  const Threads restore;
  set_thread_count(1);
  const std::vector<Scalar> one = train_transformer();
  for (int threads : {2, 3, 5}) {
    set_thread_count(threads);
    CAPTURE(threads);
    REQUIRE(same_bits(train_transformer(), one));
  }
}

#endif

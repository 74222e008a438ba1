// The heads of MultiheadAttention: what each has, shows and adds, gates, cross
// attention, head widths of their own.
#include "catch.h"
#include "helpers.h"
#include "nn/attention.h"

using namespace headway;

namespace {

// out_proj of head i alone: z_i [B, T, d_h] times its rows of W_O, without the bias.
Tensor addend(const MultiheadAttention& m, const Tensor& z, int64_t i) {
  const int64_t B = z.dim(0), T = z.dim(2), d_h = z.dim(3);
  return matmul(reshape(slice(z, 1, i, i + 1), {B, T, d_h}),
                slice(m.out_proj.weight, 0, i * d_h, (i + 1) * d_h));  // [B, T, D]
}

}  // namespace

TEST_CASE("with D = 16 and h = 4 there are 1088 parameters, 816 of them in front of the heads") {
  Random random(1);
  const MultiheadAttention m({.embed_dim = 16, .num_heads = 4}, random);
  CHECK(count(m.parameters()) == 4 * 16 * 16 + 4 * 16);
  CHECK(count(m.q_proj.parameters()) + count(m.k_proj.parameters()) + count(m.v_proj.parameters()) == 816);
  CHECK(m.q_proj.weight.size() == 256);
  const MultiheadAttention without({.embed_dim = 16, .num_heads = 4, .bias = false}, random);
  CHECK(count(without.parameters()) == 1024);
  std::vector<std::string> names;
  for (const Parameter& p : m.parameters()) names.push_back(p.name);
  CHECK(names == std::vector<std::string>{"q_proj.weight", "q_proj.bias", "k_proj.weight", "k_proj.bias",
                                          "v_proj.weight", "v_proj.bias", "out_proj.weight",
                                          "out_proj.bias"});
}

TEST_CASE("every head has a projection of its own: equal slices of x give different queries") {
  Random random(2);
  const MultiheadAttention m({.embed_dim = 16, .num_heads = 4}, random);
  const Tensor quarter = random_tensor({1, 3, 4}, 3);
  const Tensor q = split_heads(m.q_proj(concat({quarter, quarter, quarter, quarter}, 2)), 4);
  for (int64_t i = 1; i < 4; i++) CHECK_FALSE(same_bits(slice(q, 1, i, i + 1), slice(q, 1, 0, 1)));
}

TEST_CASE("the output is the bias plus what each head adds through its slice of W_O") {
  Random random(4);
  const MultiheadAttention m({.embed_dim = 12, .num_heads = 3}, random);
  const MultiheadAttention::Output o = m.forward(random_tensor({2, 5, 12}, 5), {.is_causal = true});
  CHECK(o.z.shape() == Shape{2, 3, 5, 4});
  const Tensor sum = addend(m, o.z, 0) + addend(m, o.z, 1) + addend(m, o.z, 2) + m.out_proj.bias;
  CHECK(far_apart(o.out, numbers(sum)) == "");
}

TEST_CASE("weights come back head by head, and their rows sum to 1") {
  Random random(6);
  const MultiheadAttention m({.embed_dim = 4, .num_heads = 2, .bias = false}, random);
  // q is 100 in both heads; token 0 is the key of head 0, token 1 the key of head 1.
  assign(m.q_proj.weight, {100, 0, 100, 0, 100, 0, 100, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  assign(m.k_proj.weight, {1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  const Tensor pattern = m.forward(Tensor::from({1, 2, 4}, {1, 0, 0, 0, 0, 1, 0, 0})).pattern;
  CHECK(pattern.shape() == Shape{1, 2, 2, 2});
  CHECK(far_apart(pattern, {1, 0, 1, 0, 0, 1, 0, 1}) == "");
  CHECK(far_apart(mean(pattern, {1}), {0.5, 0.5, 0.5, 0.5}) == "");

  const MultiheadAttention other({.embed_dim = 12, .num_heads = 3}, random);
  const Tensor rows = sum(other.forward(random_tensor({2, 5, 12}, 7)).pattern, {3});  // [B, h, T]
  CHECK(far_apart(rows, std::vector<double>(2 * 3 * 5, 1)) == "");
}

TEST_CASE("a gate of 0 takes away exactly what that head adds, a gate of 1 nothing") {
  Random random(8);
  const MultiheadAttention m({.embed_dim = 12, .num_heads = 3}, random);
  const Tensor x = random_tensor({2, 5, 12}, 9);
  const MultiheadAttention::Output open = m.forward(x);
  CHECK(same_bits(m.forward(x, {}, {}, Tensor::full({3}, 1)).out, open.out));
  for (int64_t i = 0; i < 3; i++) {
    Tensor gate = Tensor::full({3}, 1);
    gate.mutable_values()[size_t(i)] = 0;
    const MultiheadAttention::Output gated = m.forward(x, {}, {}, gate);
    CHECK(far_apart(gated.out, numbers(open.out - addend(m, open.z, i))) == "");
    CHECK(same_bits(gated.pattern, open.pattern));
    for (int64_t j = 0; j < 3; j++) {
      const Tensor z_j = slice(gated.z, 1, j, j + 1);
      if (j == i) CHECK(far_apart(z_j, std::vector<double>(40, 0)) == "");
      if (j != i) CHECK(same_bits(z_j, slice(open.z, 1, j, j + 1)));
    }
  }
  const Tensor closed = m.forward(x, {}, {}, Tensor::zeros({3})).out;  // nothing but the bias
  CHECK(far_apart(closed - m.out_proj.bias, std::vector<double>(120, 0)) == "");
}

TEST_CASE("the gradient of a gate is the central difference") {
  Random random(10);
  const MultiheadAttention m({.embed_dim = 12, .num_heads = 3}, random);
  const Tensor x = random_tensor({2, 5, 12}, 11), projection = random_tensor({2, 5, 12}, 12);
  const auto loss_of = [&](const Tensor& gate) { return sum(m.forward(x, {}, {}, gate).out * projection); };
  const Tensor gate = Tensor::from({3}, {1, Scalar(0.5), 0}).requires_grad();
  loss_of(gate).backward();
  for (size_t i = 0; i < 3; i++) {
    const Scalar e = Scalar(0.125);  // the loss is linear in a gate: no step is too long
    Tensor up = Tensor::from({3}, gate.values()), down = Tensor::from({3}, gate.values());
    up.mutable_values()[i] += e;
    down.mutable_values()[i] -= e;
    const double difference = double(loss_of(up).item() - loss_of(down).item()) / double(2 * e);
    CHECK(double(gate.grad().values()[i]) == Approx(difference).margin(sizeof(Scalar) == 8 ? 1e-12 : 2e-5));
    CHECK(std::abs(difference) > 0.001);
  }
}

TEST_CASE("cross attention reads keys and values from the memory, longer than x or as long") {
  Random random(13);
  const MultiheadAttention m({.embed_dim = 12, .num_heads = 3}, random);
  const Tensor x = random_tensor({2, 5, 12}, 14);
  for (int64_t S : {7, 5}) {
    const Tensor memory = random_tensor({2, S, 12}, 15);
    const MultiheadAttention::Output o = m.forward(x, {}, memory);
    CHECK(o.out.shape() == Shape{2, 5, 12});
    CHECK(o.pattern.shape() == Shape{2, 3, 5, S});
    const Tensor q = split_heads(m.q_proj(x), 3), k = split_heads(m.k_proj(memory), 3),
                 v = split_heads(m.v_proj(memory), 3);
    CHECK(same_bits(o.out, m.out_proj(merge_heads(attention(q, k, v).z))));
  }
  CHECK(same_bits(m.forward(x, {}, x).out, m.forward(x).out));  // with itself as memory it is self-attention
}

TEST_CASE("h d_h need not be D: the heads may be wider or narrower") {
  Random random(16);
  const MultiheadAttention m({.embed_dim = 6, .num_heads = 2, .head_dim = 5}, random);
  CHECK(m.q_proj.weight.shape() == Shape{6, 10});
  CHECK(m.out_proj.weight.shape() == Shape{10, 6});
  CHECK(count(m.parameters()) == 3 * (6 * 10 + 10) + 10 * 6 + 6);
  const MultiheadAttention::Output o = m.forward(random_tensor({2, 4, 6}, 17));
  CHECK(o.out.shape() == Shape{2, 4, 6});
  CHECK(o.z.shape() == Shape{2, 2, 4, 5});
  CHECK(far_apart(o.out, numbers(addend(m, o.z, 0) + addend(m, o.z, 1) + m.out_proj.bias)) == "");
  const MultiheadAttention odd({.embed_dim = 5, .num_heads = 2, .head_dim = 3},
                               random);  // 5 / 2 is not asked
  CHECK(odd.forward(random_tensor({1, 4, 5}, 18)).out.shape() == Shape{1, 4, 5});
}

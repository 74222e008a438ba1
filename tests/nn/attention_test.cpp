// Split, attend, merge: numbers worked out by hand, the faults people report,
// and equalities that hold to the bit.
#include "nn/attention.h"

#include "catch.h"
#include "core/gradcheck.h"
#include "helpers.h"

using namespace headway;

namespace {

Tensor counting(const Shape& shape) {
  std::vector<Scalar> values(size_t(element_count(shape)));
  for (size_t i = 0; i < values.size(); i++) values[i] = Scalar(i);
  return Tensor::from(shape, values);
}

// Head i of t [B, h, T, d], as a tensor of one head.
Tensor head(const Tensor& t, int64_t i) { return slice(t, 1, i, i + 1); }
Tensor item(const Tensor& t, int64_t b) { return slice(t, 0, b, b + 1); }

}  // namespace

TEST_CASE("split_heads gives each head its columns of every token") {
  const Tensor x = counting({1, 3, 4});
  const Tensor heads = split_heads(x, 2);
  CHECK(heads.shape() == Shape{1, 2, 3, 2});
  CHECK(numbers(heads) == std::vector<double>{0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11});
  // Reading the same numbers in the new shape has the right shape and mixes the tokens.
  const Tensor wrong = reshape(x, {1, 2, 3, 2});
  CHECK(wrong.shape() == heads.shape());
  CHECK(numbers(head(wrong, 0)) == std::vector<double>{0, 1, 2, 3, 4, 5});
  CHECK_FALSE(same_bits(wrong, heads));
}

TEST_CASE("merge_heads puts the columns of all heads side by side again") {
  const Tensor x = counting({1, 3, 4}), heads = split_heads(x, 2);
  CHECK(same_bits(merge_heads(heads), x));
  const Tensor wrong = reshape(heads, {1, 3, 4});
  CHECK(numbers(wrong) == std::vector<double>{0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11});
  for (int64_t h : {1, 2, 3, 4, 6, 12}) {
    const Tensor y = random_tensor({2, 5, 12}, 1);
    CHECK(split_heads(y, h).shape() == Shape{2, h, 5, 12 / h});
    CHECK(same_bits(merge_heads(split_heads(y, h)), y));
  }
}

TEST_CASE("gradients pass through split and merge to the numbers they came from") {
  const Tensor x = random_tensor({2, 3, 4}, 2).requires_grad();
  sum(split_heads(x, 2) * counting({2, 2, 3, 2})).backward();
  CHECK(numbers(x.grad()) == std::vector<double>{0,  1,  6,  7,  2,  3,  8,  9,  4,  5,  10, 11,
                                                 12, 13, 18, 19, 14, 15, 20, 21, 16, 17, 22, 23});
  const Tensor z = random_tensor({1, 2, 3, 2}, 3).requires_grad();
  sum(merge_heads(z) * counting({1, 3, 4})).backward();
  CHECK(numbers(z.grad()) == std::vector<double>{0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11});
}

TEST_CASE("changing one token changes exactly its row of every head") {
  Tensor x = counting({1, 4, 6});
  const Tensor before = split_heads(x, 3);  // [1, 3, 4, 2]
  for (size_t j = 0; j < 6; j++) x.mutable_values()[2 * 6 + j] += 100;
  const Tensor after = split_heads(x, 3);
  for (int64_t i = 0; i < 3; i++) {
    for (int64_t t = 0; t < 4; t++) {
      for (int64_t j = 0; j < 2; j++) {
        CHECK(after.at({0, i, t, j}) - before.at({0, i, t, j}) == (t == 2 ? 100 : 0));
      }
    }
  }
}

TEST_CASE("scores are divided by the root of the head width, not of the model width") {
  // d_h = 8: a raw score of 8 becomes 2.828427, and beside a 0 it gets the weight 0.944193.
  std::vector<Scalar> eight(8, Scalar(0)), keys(16, Scalar(0));
  eight[0] = 8, keys[0] = 1;
  const Tensor q = Tensor::from({1, 1, 1, 8}, eight), k = Tensor::from({1, 1, 2, 8}, keys);
  const Attended a = attention(q, k, k);
  CHECK(far_apart(a.scores, {2.82842712475, 0}) == "");
  CHECK(far_apart(a.pattern, {0.944192780793, 0.055807219207}) == "");
  CHECK(far_apart(attention(q, k, k, {}, Scalar(0.25)).pattern, {0.880797077978, 0.119202922022}) == "");
  CHECK(far_apart(attention(q, k, k, {}, Scalar(1)).scores, {8, 0}) == "");

  // The same through the module: D = 16 and h = 2, every projection the identity.
  Random random(4);
  const MultiheadAttention m({.embed_dim = 16, .num_heads = 2, .bias = false}, random);
  for (Tensor w : {m.q_proj.weight, m.k_proj.weight, m.v_proj.weight, m.out_proj.weight}) {
    for (size_t i = 0; i < 256; i++) w.mutable_values()[i] = i % 17 == 0 ? 1 : 0;
  }
  const Tensor x = merge_heads(concat({q, q}, 1)), memory = merge_heads(concat({k, k}, 1));
  CHECK(far_apart(m.forward(x, {}, memory).pattern,
                  {0.944192780793, 0.055807219207, 0.944192780793, 0.055807219207}) == "");
}

TEST_CASE("the softmax runs over the keys") {
  const Tensor q = Tensor::from({1, 1, 2, 2}, {1, 2, 3, 5}), k = Tensor::from({1, 1, 2, 2}, {1, 0, 0, 1});
  const Attended a = attention(q, k, k, {}, Scalar(1));
  CHECK(numbers(a.scores) == std::vector<double>{1, 2, 3, 5});
  const std::vector<double> rows = {0.268941421370, 0.731058578630, 0.119202922022, 0.880797077978};
  CHECK(far_apart(a.pattern, rows) == "");
  CHECK(far_apart(a.z, rows) == "");  // the values are the unit vectors
  // Over the queries its columns would sum to 1, and its rows to 0.166629 and 1.833371.
  CHECK(far_apart(sum(softmax(transpose(a.scores)), {2}), {0.166628888, 1.833371112}, 1e-6) == "");
}

TEST_CASE("attention with other key counts and value widths agrees with plain loops") {
  const int64_t B = 2, h = 3, T = 5, S = 7, d_h = 4, d_v = 6;
  const Tensor q = random_tensor({B, h, T, d_h}, 5), k = random_tensor({B, h, S, d_h}, 6),
               v = random_tensor({B, h, S, d_v}, 7);
  std::vector<double> pattern, z;
  for (int64_t b = 0; b < B; b++) {
    for (int64_t i = 0; i < h; i++) {
      for (int64_t t = 0; t < T; t++) {
        std::vector<double> e;
        double total = 0;
        for (int64_t s = 0; s < S; s++) {
          double score = 0;
          for (int64_t j = 0; j < d_h; j++) score += double(q.at({b, i, t, j})) * double(k.at({b, i, s, j}));
          e.push_back(std::exp(score / 2));
          total += e.back();
        }
        for (double& w : e) pattern.push_back(w /= total);
        for (int64_t j = 0; j < d_v; j++) {
          double sum = 0;
          for (int64_t s = 0; s < S; s++) sum += e[size_t(s)] * double(v.at({b, i, s, j}));
          z.push_back(sum);
        }
      }
    }
  }
  const Attended a = attention(q, k, v);
  CHECK(a.scores.shape() == Shape{B, h, T, S});
  CHECK(a.z.shape() == Shape{B, h, T, d_v});
  CHECK(far_apart(a.pattern, pattern) == "");
  CHECK(far_apart(a.z, z) == "");
}

TEST_CASE("a loop over heads and items gives the bits of the batched form") {
  const Tensor q = random_tensor({2, 3, 5, 4}, 8), k = random_tensor({2, 3, 5, 4}, 9),
               v = random_tensor({2, 3, 5, 4}, 10);
  for (bool is_causal : {false, true}) {
    const Masking masking = {.is_causal = is_causal};
    const Attended all = attention(q, k, v, masking);
    for (int64_t i = 0; i < 3; i++) {
      const Attended one = attention(head(q, i), head(k, i), head(v, i), masking);
      CHECK(same_bits(one.pattern, head(all.pattern, i)));
      CHECK(same_bits(one.z, head(all.z, i)));
    }
    for (int64_t b = 0; b < 2; b++) {
      CHECK(same_bits(attention(item(q, b), item(k, b), item(v, b), masking).z, item(all.z, b)));
    }
  }
}

TEST_CASE("cutting one big projection gives the bits of h small projections") {
  Random random(11);
  const Linear big(12, 12, true, random);
  const Tensor x = random_tensor({2, 5, 12}, 12), heads = split_heads(big(x), 3);
  for (int64_t i = 0; i < 3; i++) {
    const Tensor columns = slice(big.weight, 1, 4 * i, 4 * i + 4);  // [D, d_h]
    const Tensor small = matmul(x, columns) + slice(big.bias, 0, 4 * i, 4 * i + 4);
    CHECK(same_bits(reshape(small, {2, 1, 5, 4}), head(heads, i)));
  }
}

TEST_CASE("an item alone has the bits it has inside a batch") {
  Random random(13);
  const MultiheadAttention m({.embed_dim = 12, .num_heads = 3}, random);
  const Tensor x = random_tensor({2, 5, 12}, 14);
  for (bool is_causal : {false, true}) {
    const MultiheadAttention::Output both = m.forward(x, {.is_causal = is_causal});
    for (int64_t b = 0; b < 2; b++) {
      const MultiheadAttention::Output alone = m.forward(item(x, b), {.is_causal = is_causal});
      CHECK(same_bits(alone.out, item(both.out, b)));
      CHECK(same_bits(alone.pattern, item(both.pattern, b)));
    }
  }
}

TEST_CASE("a single token attends to itself: every weight is 1") {
  Random random(15);
  const MultiheadAttention m({.embed_dim = 12, .num_heads = 3}, random);
  for (bool is_causal : {false, true}) {
    const Tensor pattern = m.forward(random_tensor({2, 1, 12}, 16), {.is_causal = is_causal}).pattern;
    CHECK(numbers(pattern) == std::vector<double>(6, 1));
  }
}

TEST_CASE("token by token, with the keys so far and past, gives the bits of the whole sequence") {
  const Tensor q = random_tensor({2, 3, 6, 4}, 17), k = random_tensor({2, 3, 6, 4}, 18),
               v = random_tensor({2, 3, 6, 4}, 19);
  const Attended whole = attention(q, k, v, {.is_causal = true});
  for (int64_t t = 0; t < 6; t++) {
    const Attended step = attention(slice(q, 2, t, t + 1), slice(k, 2, 0, t + 1), slice(v, 2, 0, t + 1),
                                    {.is_causal = true, .past = t});
    CHECK(same_bits(step.z, slice(whole.z, 2, t, t + 1)));
    CHECK(same_bits(step.pattern, slice(slice(whole.pattern, 2, t, t + 1), 3, 0, t + 1)));
  }
  // The first step sees one key, its own.
  CHECK(same_bits(slice(whole.z, 2, 0, 1), slice(v, 2, 0, 1)));
}

TEST_CASE("the gradients of attention are those of central differences") {
  const double tolerance = sizeof(Scalar) == 8 ? 1e-7 : 2e-2;
  const std::vector<Tensor> qkv = {random_tensor({2, 2, 3, 4}, 20), random_tensor({2, 2, 5, 4}, 21),
                                   random_tensor({2, 2, 5, 3}, 22)};
  const auto plain = [](std::span<const Tensor> in) { return attention(in[0], in[1], in[2]).z; };
  const auto causal = [](std::span<const Tensor> in) {
    return attention(in[0], in[1], in[2], {.is_causal = true, .past = 2}).z;
  };
  for (OpUnderTest f : {OpUnderTest(plain), OpUnderTest(causal)}) {
    const GradientCheck check = check_gradients("attention", f, qkv, tolerance);
    INFO(check.report);
    CHECK(check.passed);
  }
}

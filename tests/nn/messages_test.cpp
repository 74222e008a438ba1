// The whole text of every error that src/nn throws, and of those from below that its users meet.
#include "catch.h"
#include "core/mask.h"
#include "core/node.h"
#include "helpers.h"
#include "nn/generate.h"

using namespace headway;

namespace {

template <class F>
std::string shape_error(F f) {
  return message_of<ShapeError>(f);
}

std::string built(const MultiheadAttention::Options& options) {
  Random random(1);
  return shape_error([&] { MultiheadAttention(options, random); });
}

Tensor zeros(const Shape& shape, const char* name) { return Tensor::zeros(shape).named(name); }

}  // namespace

TEST_CASE("a width that the heads do not divide is refused with the head counts that do") {
  CHECK(shape_error([] {
          split_heads(zeros({2, 5, 10}, "tokens"), 3);
        }) == "split_heads: embed_dim 10 is not divisible by num_heads 3 (10 = 3 * 3 + 1)\n"
              "  x = tokens  [2, 5, 10]\n"
              "  rule: head_dim = embed_dim / num_heads must be a whole number\n"
              "  hint: with embed_dim 10 use 1, 2, 5 or 10 heads, or make embed_dim 9 or 12");
  CHECK(built({.embed_dim = 14, .num_heads = 4}) ==
        "MultiheadAttention: embed_dim 14 is not divisible by num_heads 4 (14 = 4 * 3 + 2)\n"
        "  rule: head_dim = embed_dim / num_heads must be a whole number\n"
        "  hint: with embed_dim 14 use 1, 2, 7 or 14 heads, or make embed_dim 12 or 16");
  CHECK(built({.embed_dim = 360, .num_heads = 7}) ==  // of 24 divisors the eight smallest, and the width
        "MultiheadAttention: embed_dim 360 is not divisible by num_heads 7 (360 = 7 * 51 + 3)\n"
        "  rule: head_dim = embed_dim / num_heads must be a whole number\n"
        "  hint: with embed_dim 360 use 1, 2, 3, 4, 5, 6, 8, 9 or 360 heads, or make embed_dim 357 or 364");
}

TEST_CASE("more heads than columns, no heads and negative heads are refused") {
  CHECK(built({.embed_dim = 8, .num_heads = 16}) ==
        "MultiheadAttention: num_heads 16 is more than embed_dim 8\n"
        "  rule: head_dim = embed_dim / num_heads must be a whole number\n"
        "  hint: with embed_dim 8 use 1, 2, 4 or 8 heads");
  CHECK(built({.embed_dim = 8, .num_heads = 0}) ==
        "MultiheadAttention: num_heads 0 is not at least 1\n"
        "  rule: head_dim = embed_dim / num_heads must be a whole number\n"
        "  hint: with embed_dim 8 use 1, 2, 4 or 8 heads");
  CHECK(built({.embed_dim = 8, .num_heads = -2, .head_dim = 4}) ==
        "MultiheadAttention: num_heads -2 is not at least 1\n"
        "  rule: head_dim = embed_dim / num_heads must be a whole number\n"
        "  hint: with embed_dim 8 use 1, 2, 4 or 8 heads");
  CHECK(built({.embed_dim = 1, .num_heads = 2}) ==
        "MultiheadAttention: num_heads 2 is more than embed_dim 1\n"
        "  rule: head_dim = embed_dim / num_heads must be a whole number\n"
        "  hint: with embed_dim 1 use 1 head");
  CHECK(shape_error([] {
          split_heads(zeros({1, 2, 6}, "x"), 0);
        }) == "split_heads: num_heads 0 is not at least 1\n"
              "  x  [1, 2, 6]\n"
              "  rule: head_dim = embed_dim / num_heads must be a whole number\n"
              "  hint: with embed_dim 6 use 1, 2, 3 or 6 heads");
  CHECK(built({.embed_dim = -8, .num_heads = 2}) ==
        "MultiheadAttention: embed_dim -8 and head_dim 0 do not make a layer\n"
        "  rule: embed_dim is at least 1; head_dim is at least 1, or 0 for embed_dim / num_heads");
}

TEST_CASE("a refused head count has allocated nothing") {
  Random random(1);
  const int64_t before = pool_use().live_bytes;
  CHECK_THROWS_AS(MultiheadAttention({.embed_dim = 10, .num_heads = 3}, random), ShapeError);
  CHECK(pool_use().live_bytes == before);
  CHECK(random.bits() == Random(1).bits());
}

TEST_CASE("tensors without their head axis, or with one too many, are refused") {
  CHECK(shape_error([] {
          split_heads(zeros({5, 10}, "tokens"), 2);
        }) == "split_heads: x has 2 axes, not 3\n"
              "  x = tokens  [5, 10]\n"
              "  rule: before the split a tensor is [B, T, D]");
  CHECK(shape_error([] {
          merge_heads(zeros({2, 5, 10}, "z"));
        }) == "merge_heads: z has 3 axes, not 4\n"
              "  z  [2, 5, 10]\n"
              "  rule: with heads a tensor is [B, h, T, d_h]\n"
              "  hint: split_heads makes it from [B, T, D]");
  const Tensor four = zeros({2, 3, 5, 4}, "four"), three = zeros({2, 5, 12}, "three");
  const std::string rest = " has 3 axes, not 4\n"
                           "  @ = three  [2, 5, 12]\n"
                           "  rule: with heads a tensor is [B, h, T, d_h]\n"
                           "  hint: split_heads makes it from [B, T, D]";
  const auto expected = [&](char role) {
    std::string text = "attention: " + std::string(1, role) + rest;
    text[text.find('@')] = role;
    return text;
  };
  CHECK(shape_error([&] { attention(three, four, four); }) == expected('q'));
  CHECK(shape_error([&] { attention(four, three, four); }) == expected('k'));
  CHECK(shape_error([&] { attention(four, four, three); }) == expected('v'));
}

TEST_CASE("q, k and v that do not go together are refused, each with its shape") {
  const Tensor q = zeros({2, 3, 5, 4}, "q");
  const auto message = [&](const Shape& k, const Shape& v) {
    return shape_error([&] { attention(q, zeros(k, "keys"), zeros(v, "values")); });
  };
  const std::string rule = "  rule: q [B, h, T, d_h], k [B, h, S, d_h], v [B, h, S, d_v]";
  CHECK(message({1, 3, 5, 4}, {1, 3, 5, 4}) == "attention: q has 2 items of 3 heads, k has 1 of 3\n"
                                               "  q  [2, 3, 5, 4]\n"
                                               "  k = keys  [1, 3, 5, 4]\n"
                                               "  v = values  [1, 3, 5, 4]\n" +
                                                   rule);
  CHECK(message({2, 6, 5, 4}, {2, 6, 5, 4}) == "attention: q has 2 items of 3 heads, k has 2 of 6\n"
                                               "  q  [2, 3, 5, 4]\n"
                                               "  k = keys  [2, 6, 5, 4]\n"
                                               "  v = values  [2, 6, 5, 4]\n" +
                                                   rule);
  CHECK(message({2, 3, 5, 8}, {2, 3, 5, 4}) == "attention: q has head_dim 4, k has 8\n"
                                               "  q  [2, 3, 5, 4]\n"
                                               "  k = keys  [2, 3, 5, 8]\n"
                                               "  v = values  [2, 3, 5, 4]\n" +
                                                   rule);
  CHECK(message({2, 3, 7, 4}, {2, 3, 6, 4}) ==
        "attention: k is [2, 3, 7] on its first three axes, v is [2, 3, 6]\n"
        "  q  [2, 3, 5, 4]\n"
        "  k = keys  [2, 3, 7, 4]\n"
        "  v = values  [2, 3, 6, 4]\n" +
            rule);
  CHECK(message({2, 3, 7, 4}, {1, 3, 7, 4}).substr(0, 65) ==
        "attention: k is [2, 3, 7] on its first three axes, v is [1, 3, 7]");
}

TEST_CASE("causal attention with other key counts asks for the past") {
  const Tensor q = zeros({1, 2, 2, 4}, "q"), k = zeros({1, 2, 5, 4}, "k");
  CHECK(message_of<ValueError>([&] { attention(q, k, k, {.is_causal = true}); }) ==
        "attention: is_causal with 2 queries and 5 keys needs to know the past\n"
        "  rule: query t sees keys 0 .. past + t, where past counts the keys before the first query\n"
        "  hint: after a cache of 3 keys it is past = 3; with nothing before it is past = 0");
  CHECK_THROWS_AS(attention(k, q, q, {.is_causal = true}), ValueError);
  CHECK(message_of<ValueError>([&] { attention(q, k, k, {.is_causal = true, .past = -1}); }) ==
        "Allow::causal: past -1 is below 0\n"
        "  rule: past counts the keys that stand before the first query");
}

TEST_CASE("Linear names the layer whose width does not fit") {
  Random random(2);
  const MultiheadAttention m({.embed_dim = 8, .num_heads = 2}, random);
  CHECK(shape_error([&] {
          m(zeros({2, 5, 6}, "tokens"));
        }) == "Linear: x has rows of 6 numbers, q_proj.weight takes 8\n"
              "  x = tokens  [2, 5, 6]\n"
              "  weight = q_proj.weight  [8, 8]\n"
              "  rule: x [..., in] times weight [in, out] gives [..., out]");
  CHECK(shape_error([&] {
          m.forward(zeros({2, 5, 8}, "x"), {}, zeros({2, 3, 7}, "memory"));
        }) == "Linear: x has rows of 7 numbers, k_proj.weight takes 8\n"
              "  x = memory  [2, 3, 7]\n"
              "  weight = k_proj.weight  [8, 8]\n"
              "  rule: x [..., in] times weight [in, out] gives [..., out]");
  CHECK_THROWS_AS(m.out_proj(zeros({8}, "row")), ShapeError);
  CHECK_THROWS_AS(m.out_proj(zeros({}, "number")), ShapeError);
}

TEST_CASE("a sequence longer than the position table and a token outside the vocabulary are refused") {
  Random random(3);
  const Transformer model(
      {.vocab_size = 7, .context = 4, .block = {.embed_dim = 6, .num_heads = 2, .mlp_dim = 5}}, random);
  CHECK(shape_error([&] {
          model({1, 2, 3, 4, 5}, 1, 5);
        }) == "Transformer: a sequence of 5 tokens is longer than the position table of 4 rows\n"
              "  positions = pos.weight  [4, 6]\n"
              "  rule: every position needs a row of its own\n"
              "  hint: build the model with context 5 or more, or cut the sequence");
  for (int token : {7, -1}) {
    CHECK(message_of<ValueError>([&] {
            model({1, 2, token, 0}, 2, 2);
          }) == text("embedding: id ", token, " at position 2 is outside the table of 7 rows\n",
                     "  table = tok.weight  [7, 6]\n", "  rule: ids run from 0 to 6\n",
                     "  hint: is the vocabulary too small, or the sequence longer than the position table?"));
  }
  CHECK(shape_error([&] {
          model({1, 2, 3}, 1, 4);
        }) == "embedding: 3 ids in shape [1, 4] cannot be looked up\n"
              "  table = tok.weight  [7, 6]\n"
              "  rule: the table is [V, D], and the shape of the ids holds exactly the ids");
}

TEST_CASE("a cache refuses what does not fit, what is too much, and what has a history") {
  CHECK(shape_error([] { KVCache(2, 3, 0, 4); }) ==
        "KVCache: B 2, num_heads 3, capacity 0 and head_dim 4 make no cache\n"
        "  rule: each is at least 1");
  KVCache cache(2, 3, 6, 4);
  cache.append(zeros({2, 3, 5, 4}, "k"), zeros({2, 3, 5, 4}, "v"));
  const Tensor one = zeros({2, 3, 1, 4}, "new"), two = zeros({2, 3, 2, 4}, "more");
  CHECK(shape_error([&] { cache.append(two, two); }) ==
        "KVCache: behind 5 cached tokens, 2 more need room for 7, and the capacity is 6\n"
        "  rule: a cache is allocated once and does not grow; no token is dropped to make room\n"
        "  hint: make it with capacity 7 or more, or clear() it for a new text");
  CHECK(shape_error([&] { cache.append(one, two); }) ==
        "KVCache: v does not fit the cache\n"
        "  k = new  [2, 3, 1, 4]\n"
        "  v = more  [2, 3, 2, 4]\n"
        "  rule: they are [B, h, T, d_h] of the same T tokens, here with B = 2, h = 3, d_h = 4");
  CHECK(shape_error([&] {
          append_and_attend(zeros({2, 3, 4}, "flat"), one, one, cache);
        }) == "append_and_attend: q does not fit the cache\n"
              "  q = flat  [2, 3, 4]\n"
              "  k = new  [2, 3, 1, 4]\n"
              "  v = new  [2, 3, 1, 4]\n"
              "  rule: they are [B, h, T, d_h] of the same T tokens, here with B = 2, h = 3, d_h = 4");
  CHECK(message_of<ValueError>([&] { append_and_attend(one, one.requires_grad(), one, cache); }) ==
        "append_and_attend: k carries a gradient, and a cache keeps no history\n"
        "  k = new  [2, 3, 1, 4]\n"
        "  rule: no backward could pass through numbers that were only kept\n"
        "  hint: decode inside NoGrad, or hand in a tensor's detach()");
  CHECK(message_of<ValueError>([&] { cache.truncate(6); }) ==
        "KVCache: it cannot be cut to 6 tokens, it holds 5\n"
        "  rule: the first 0 .. length() tokens may be kept");
  CHECK(cache.length() == 5);
}

TEST_CASE("a transformer refuses caches that are not its own, and positions beyond its table") {
  Random random(3);
  const Transformer::Options options = {.vocab_size = 7,
                                        .context = 4,
                                        .num_layers = 2,
                                        .block = {.embed_dim = 6, .num_heads = 2, .mlp_dim = 5}};
  const Transformer model(options, random);
  const NoGrad no_grad;
  std::vector<KVCache> caches = model.make_caches(1, 8);
  model({1, 2, 3}, 1, 3, caches);
  CHECK(shape_error([&] {
          model({4, 5}, 1, 2, caches);
        }) ==
        "Transformer: a sequence of 5 tokens (3 of them cached) is longer than the position table of 4 rows\n"
        "  positions = pos.weight  [4, 6]\n"
        "  rule: every position needs a row of its own\n"
        "  hint: build the model with context 5 or more, or cut the sequence");
  CHECK(shape_error([&] {
          model({4, 5}, 2, 1, caches);
        }) == "Transformer: the cache of layer 0 holds 3 tokens of 1 items, not 3 of 2\n"
              "  rule: all layers have read the same tokens, of as many items as are read now\n"
              "  hint: clear() them all, or make new ones, and begin again with the prompt");
  caches[1].clear();
  CHECK(shape_error([&] { model({4}, 1, 1, caches); }) ==
        "Transformer: the cache of layer 1 holds 0 tokens of 1 items, not 3 of 1\n"
        "  rule: all layers have read the same tokens, of as many items as are read now\n"
        "  hint: clear() them all, or make new ones, and begin again with the prompt");
  caches.pop_back();
  CHECK(shape_error([&] { model({4}, 1, 1, caches); }) ==
        "Transformer: 1 caches for 2 layers\n"
        "  rule: every layer has a cache of its own, and positions are counted by what they hold\n"
        "  hint: make_caches makes one for each layer");
  Transformer::Options both_ways = options;
  both_ways.is_causal = false;
  const Transformer other(both_ways, random);
  std::vector<KVCache> others = other.make_caches(1);
  CHECK(message_of<ValueError>([&] { other({1}, 1, 1, others); }) ==
        "Transformer: a model that is not causal cannot use a cache\n"
        "  rule: cached keys and values hold only where no token sees a later one\n"
        "  hint: read the whole sequence at once, or build the model with is_causal");
}

TEST_CASE("generate refuses what it cannot go on from, before any work") {
  Random random(3);
  const Transformer model(
      {.vocab_size = 7, .context = 4, .block = {.embed_dim = 6, .num_heads = 2, .mlp_dim = 5}}, random);
  for (bool use_cache : {true, false}) {
    const auto value_error = [&](const std::vector<int>& prompts, int64_t B, int64_t count) {
      return message_of<ValueError>([&] { generate(model, prompts, B, count, use_cache); });
    };
    const auto size_error = [&](const std::vector<int>& prompts, int64_t B, int64_t count) {
      return shape_error([&] { generate(model, prompts, B, count, use_cache); });
    };
    CHECK(value_error({}, 1, 2) == "generate: the prompt is empty\n"
                                   "  rule: a new token follows from the last one, so there must be one\n"
                                   "  hint: begin with a token that marks the start of a line");
    CHECK(value_error({1, 2}, 0, 2) == "generate: 2 tokens for each of 0 prompts cannot be made\n"
                                       "  rule: there is at least one prompt, and the count is not negative");
    CHECK(value_error({1, 2}, 2, -1) ==
          "generate: -1 tokens for each of 2 prompts cannot be made\n"
          "  rule: there is at least one prompt, and the count is not negative");
    CHECK(size_error({1, 2, 3, 4, 5}, 2, 1) ==
          "generate: 5 tokens are not 2 prompts of equal length (5 = 2 * 2 + 1)\n"
          "  rule: prompts holds B rows of the same length, one after the other");
    CHECK(size_error({1, 2, 3, 4, 5, 6}, 2, 3) ==
          "generate: a prompt of 3 tokens and 3 new ones need 5 positions, and the table has 4\n"
          "  positions = pos.weight  [4, 6]\n"
          "  rule: every token that is read needs a position; the last new one is not read\n"
          "  hint: ask for at most 2 new tokens, or build the model with context 5 or more");
    CHECK(size_error({1, 2, 3, 4, 5, 6}, 1, 1) ==
          "generate: a prompt of 6 tokens and 1 new ones need 6 positions, and the table has 4\n"
          "  positions = pos.weight  [4, 6]\n"
          "  rule: every token that is read needs a position; the last new one is not read\n"
          "  hint: ask for at most 0 new tokens, or build the model with context 6 or more");
  }
  Tensor row = model.norm_f.bias;
  row.mutable_values()[2] = std::numeric_limits<Scalar>::quiet_NaN();
  CHECK(message_of<ValueError>([&] {
          generate(model, {1, 2, 3, 4}, 2, 1);
        }) == "generate: item 0 has a NaN among the logits of its next token\n"
              "  logits = matmul  [2, 2, 7]\n"
              "  rule: no token is the likeliest where one number is not a number\n"
              "  hint: while a WatchForNaN lives, the op that makes the first NaN is named");
}

TEST_CASE("a width of a trillion is refused at once, with the head counts that are small") {
  Random random(1);
  CHECK(message_of<ShapeError>(
            [&] { MultiheadAttention({.embed_dim = (int64_t(1) << 40) + 1, .num_heads = 3}, random); }) ==
        "MultiheadAttention: embed_dim 1099511627777 is not divisible by num_heads 3 (1099511627777 = 3 * "
        "366503875925 + 2)\n"
        "  rule: head_dim = embed_dim / num_heads must be a whole number\n"
        "  hint: with embed_dim 1099511627777 use 1, 257 or 1099511627777 heads, or make embed_dim "
        "1099511627775 or 1099511627778");
}

TEST_CASE("sizes of 0 are refused where they are given, not where they are met") {
  Random random(1);
  CHECK(message_of<ShapeError>([] {
          (void)split_heads(Tensor::zeros({2, 5, 0}).named("x"), 3);
        }) == "split_heads: embed_dim 0 leaves no number for a head\n"
              "  x  [2, 5, 0]\n"
              "  rule: embed_dim is at least 1, and a multiple of num_heads");
  const Tensor q = Tensor::zeros({1, 2, 3, 0}), v = Tensor::zeros({1, 2, 3, 4});
  CHECK(message_of<ShapeError>([&] {
          attention(q, q, v);
        }).find("attention: q and k have head_dim 0, and a score needs 1 or more\n") == 0);
  CHECK(message_of<ShapeError>([&] { Embedding(0, 4, random); }) ==
        "Embedding: a table of 0 rows of 4 numbers holds nothing\n"
        "  rule: rows and width are at least 1\n"
        "  hint: is a size left at 0, such as vocab_size, context or embed_dim?");
}

// Block and Transformer against PyTorch: results and every gradient, tied and untied; names; no looking
// ahead.
#include "nn/transformer.h"

#include <algorithm>

#include "catch.h"
#include "figures.h"
#include "helpers.h"

using namespace headway;

TEST_CASE("Block is PyTorch's TransformerEncoderLayer, pre-norm and causal") {
  Random random(4);
  const Block block({.embed_dim = 6, .num_heads = 2, .mlp_dim = 3}, random);
  load(block.parameters(), "block");
  const Tensor x = tensor("block.x").requires_grad();
  check_results("block.pre", x, block(x, {.is_causal = true}), block.parameters());
}

TEST_CASE("Block is PyTorch's TransformerEncoderLayer, post-norm with padded keys") {
  Random random(5);
  const Block block(
      {.embed_dim = 6, .num_heads = 2, .mlp_dim = 3, .activation = Activation::gelu_erf, .norm_first = false},
      random);
  load(block.parameters(), "block");
  const Tensor x = tensor("block.x").requires_grad();
  const Allow padding = Allow::lengths(whole_numbers("block.lengths"), 4);
  check_results("block.post", x, block(x, {.allow = padding}), block.parameters());
}

namespace {

Transformer two_layers(bool tied) {
  Random random(6);
  Transformer model({.vocab_size = 7,
                     .context = 8,
                     .num_layers = 2,
                     .block = {.embed_dim = 6, .num_heads = 2, .mlp_dim = 3},
                     .tied = tied},
                    random);
  load(model.parameters(), "transformer");
  return model;
}

}  // namespace

TEST_CASE("Transformer has PyTorch's logits, loss and gradients") {
  const std::vector<int> tokens = whole_numbers("transformer.tokens"),
                         targets = whole_numbers("transformer.targets");
  const Transformer model = two_layers(false);
  const Tensor logits = model(tokens, 5, 4), loss = cross_entropy(logits, targets);
  check(logits, "transformer.untied.logits");
  check(loss, "transformer.untied.loss");
  loss.backward();
  check_gradients_of(model.parameters(), "transformer.untied");
}

TEST_CASE("Transformer with tied weights reads its logits through the token table") {
  const std::vector<int> tokens = whole_numbers("transformer.tokens"),
                         targets = whole_numbers("transformer.targets");
  const Transformer model = two_layers(true);
  const Tensor logits = model(tokens, 5, 4), loss = cross_entropy(logits, targets);
  check(logits, "transformer.tied.logits");
  check(loss, "transformer.tied.loss");
  loss.backward();
  check(model.tok.weight.grad(), "d transformer.tied.tok.weight");  // both of its uses in one gradient
  check(model.pos.weight.grad(), "d transformer.tied.pos.weight");
  check(model.norm_f.weight.grad(), "d transformer.tied.norm_f.weight");
  check(model.blocks[0].attn.q_proj.weight.grad(), "d transformer.tied.blocks.0.attn.q_proj.weight");
  CHECK_FALSE(model.head.has_value());
  CHECK(count(model.parameters()) == count(two_layers(false).parameters()) - 6 * 7);
}

TEST_CASE("Transformer hands out the patterns of every layer, and does not look ahead") {
  const Transformer model = two_layers(false);
  std::vector<int> tokens = {1, 2, 3, 4, 5, 6, 0, 1};
  std::vector<Tensor> patterns;
  const Tensor before = model(tokens, 2, 4, &patterns);
  REQUIRE(patterns.size() == 2);
  CHECK(patterns[1].shape() == Shape{2, 2, 4, 4});
  CHECK_FALSE(same_bits(patterns[0], patterns[1]));
  tokens[3] = 0, tokens[7] = 3;  // the last token of each row
  const Tensor after = model(tokens, 2, 4);
  CHECK(same_bits(slice(before, 1, 0, 3), slice(after, 1, 0, 3)));
  CHECK_FALSE(same_bits(slice(before, 1, 3, 4), slice(after, 1, 3, 4)));
}

TEST_CASE("parameters carry PyTorch's names, in tensors and in lists") {
  const Transformer model = two_layers(false);
  const std::vector<std::string> all = names(model.parameters());
  CHECK(all.size() == 2 + 2 * 16 + 2 + 1);
  for (const char* name :
       {"tok.weight", "pos.weight", "blocks.0.attn.q_proj.weight", "blocks.1.attn.out_proj.bias",
        "blocks.1.mlp.linear2.weight", "blocks.0.norm2.bias", "norm_f.weight", "head.weight"}) {
    CAPTURE(name);
    CHECK(std::count(all.begin(), all.end(), name) == 1);
  }
  for (const Parameter& p : model.parameters()) CHECK(p.tensor.name() == p.name);
}

TEST_CASE("a transformer that is not causal lets every token see every other") {
  Random random(8);
  const Transformer model({.vocab_size = 7,
                           .context = 4,
                           .block = {.embed_dim = 6, .num_heads = 2, .mlp_dim = 3},
                           .is_causal = false},
                          random);
  std::vector<Tensor> patterns;
  model({1, 2, 3, 4}, 1, 4, &patterns);
  for (Scalar weight : patterns.at(0).values()) CHECK(weight > 0);
}

// Edges that were wrong once.
#include "catch.h"
#include "nn/transformer.h"
#include "tasks/reader.h"

using namespace headway;

TEST_CASE("a layer without a width is refused by name") {
  Random random(1);
  CHECK(message_of<ShapeError>([&] { Block({.embed_dim = 4, .num_heads = 2}, random); }) ==
        "Linear: a layer from 4 to 0 numbers is no layer\n"
        "  rule: in and out are at least 1\n"
        "  hint: is a width left at 0, such as mlp_dim or embed_dim?");
  CHECK(message_of<ShapeError>([&] {
          MultiheadAttention({.embed_dim = 4, .num_heads = 2, .head_dim = -1}, random);
        }) == "MultiheadAttention: embed_dim 4 and head_dim -1 do not make a layer\n"
              "  rule: embed_dim is at least 1; head_dim is at least 1, or 0 for embed_dim / num_heads");
}

TEST_CASE("past without is_causal is refused, and so is a gate of another size") {
  const Tensor q = Tensor::zeros({2, 3, 4, 5}).named("q");
  CHECK(message_of<ValueError>([&] { attention(q, q, q, {.past = 3}); }) ==
        "attention: past 3 is given, but is_causal is not\n"
        "  rule: past says where a causal mask begins; without one it means nothing\n"
        "  hint: set is_causal, or leave past out");
  Random random(1);
  const MultiheadAttention layer({.embed_dim = 6, .num_heads = 3}, random);
  CHECK(message_of<ShapeError>([&] {
          layer.forward(Tensor::zeros({1, 2, 6}), {}, {}, Tensor::zeros({2}).named("g"));
        }) == "gate should have shape [3], but has [2]\n"
              "  gate = g  [2]\n"
              "  rule: a shape comment is a promise");
}

TEST_CASE("a causal mask does not let a mask of a wrong rank pass") {
  const Tensor q = Tensor::zeros({2, 3, 4, 5});
  const Allow one_row({1, 4}, {1, 1, 0, 1});
  CHECK_THROWS_AS(attention(q, q, q, {.allow = one_row}), ShapeError);
  CHECK_THROWS_AS(attention(q, q, q, {.is_causal = true, .allow = one_row}), ShapeError);
}

TEST_CASE("parameters keep their full names, whoever asks for them") {
  Random random(1);
  const Transformer model(
      {.vocab_size = 5, .context = 4, .block = {.embed_dim = 6, .num_heads = 3, .mlp_dim = 7}}, random);
  model.blocks[0].attn.parameters();
  CHECK(model.blocks[0].attn.q_proj.weight.name() == "blocks.0.attn.q_proj.weight");
  const ReaderModel reader(kback(2), {.num_heads = 2}, random);
  CHECK(reader.attn.v_proj.weight.name() == "attn.v_proj.weight");
}

TEST_CASE("a gate reaches the heads of a reader that does not mix them") {
  Random random(3);
  const ReaderModel model(kback(2), {.num_heads = 2, .mix = false}, random);
  const ReaderBatch batch = model.task.draw(model.task, 2, random);
  const Tensor logits = model.forward(batch.tokens, Tensor::zeros({2})).logits;  // [2, T, 2, V]
  // With both heads removed only the bias of the readers is left, the same in every place.
  for (int64_t i = 0; i < logits.size(); i++) CHECK(logits.data()[i] == model.readers.bias.data()[i % 16]);
}

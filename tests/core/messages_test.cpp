// The whole text of every error that core throws. A message is part of what a learner works with, so a word
// changed there is a word changed here. Those of backward and WatchForNaN stand in autodiff_test.cpp.
#include <limits>

#include "catch.h"
#include "core/node.h"
#include "core/ops.h"

using namespace headway;

namespace {

template <class Call>
std::string shape_error(Call call) {
  return message_of<ShapeError>(call);
}

template <class Call>
std::string value_error(Call call) {
  return message_of<ValueError>(call);
}

// A tensor with a name, as the messages show it.
Tensor called(const char* name, const Shape& shape) { return Tensor::zeros(shape).named(name); }

}  // namespace

// ---- how a message is put together

TEST_CASE("a message is one line per fact, with roles and names") {
  const std::string m = Message("split: it does not fit")
                            .tensor("x", "tokens", {2, 5, 10})
                            .tensor("mask", "", {5})
                            .tensor("bias", "bias", {})
                            .fact("found 3")
                            .rule("it must fit")
                            .hint("make it fit");
  CHECK(m == "split: it does not fit\n"
             "  x = tokens  [2, 5, 10]\n"
             "  mask  [5]\n"
             "  bias  []\n"
             "  found 3\n"
             "  rule: it must fit\n"
             "  hint: make it fit");
}

TEST_CASE("every kind of error is a std::exception") {
  CHECK_THROWS_AS(throw ShapeError("s"), std::exception);
  CHECK_THROWS_AS(throw ValueError("v"), std::exception);
  CHECK_THROWS_AS(throw FileError("f"), std::exception);
}

// ---- tensors

TEST_CASE("a negative size is refused") {
  CHECK(shape_error([] {
          Tensor::zeros({2, -3});
        }) == "shape [2, -3] has the negative size -3\n"
              "  rule: every size of a shape is 0 or more\n"
              "  hint: only reshape takes a -1, once, for the size "
              "that is left over");
}

TEST_CASE("a huge shape is refused before anything is allocated") {
  const int64_t huge = int64_t(1) << 40;
  const PoolUse before = pool_use();
  CHECK(shape_error([&] {
          Tensor::zeros({huge, 2});
        }) == "shape [1099511627776, 2] asks for 1099511627776 numbers or more\n"
              "  rule: the sizes multiplied must stay below 2^40\n"
              "  hint: look for a size that was meant as a value, or for two sizes swapped");
  // Sizes whose product is a small number once it has overflowed 64 bits.
  CHECK_THROWS_AS(Tensor::uncleared({int64_t(1) << 32, int64_t(1) << 32}), ShapeError);
  CHECK_THROWS_AS(Tensor::uncleared({int64_t(1) << 62, 4, 3}), ShapeError);
  CHECK_THROWS_AS(Tensor::full({INT64_MAX}, 1), ShapeError);
  const Tensor column = called("c", {1 << 21, 1}), row = called("r", {1, 1 << 21});
  CHECK(shape_error([&] { column + row; }) ==
        "shape [2097152, 2097152] asks for 1099511627776 numbers or more\n"
        "  rule: the sizes multiplied must stay below 2^40\n"
        "  hint: look for a size that was meant as a value, or for two sizes swapped");
  CHECK(pool_use().live_bytes - before.live_bytes < int64_t(1) << 26);
  CHECK(Tensor::zeros({huge, 0, huge}).size() == 0);
}

TEST_CASE("Tensor::from counts the numbers") {
  CHECK(shape_error([] {
          Tensor::from({2, 3}, {1, 2, 3, 4, 5});
        }) == "Tensor::from: shape [2, 3] holds 6 numbers, but 5 were given\n"
              "  rule: the sizes multiplied give the count of numbers\n"
              "  hint: count the rows of the list, or change the shape");
}

TEST_CASE("at stays inside, in every axis") {
  const Tensor x = called("q", {2, 3});
  const std::string rest = "\n  x = q  [2, 3]\n  rule: one index per axis, each from 0 to size - 1";
  CHECK(shape_error([&] { x.at({1, 3}); }) == "at: there is no number at [1, 3]" + rest);
  CHECK(shape_error([&] { x.at({-1, 0}); }) == "at: there is no number at [-1, 0]" + rest);
  CHECK(shape_error([&] { x.at({1}); }) == "at: there is no number at [1]" + rest);
  CHECK(shape_error([&] { x.at({0, 0, 0}); }) == "at: there is no number at [0, 0, 0]" + rest);
}

TEST_CASE("item wants a single number") {
  const std::string rest = "\n  rule: item() reads the only number of a tensor\n"
                           "  hint: read one of many with at({...}), or reduce with sum or mean first";
  CHECK(shape_error([] {
          called("q", {2, 3}).item();
        }) == "item: the tensor has 6 numbers, not 1\n  x = q  [2, 3]" + rest);
  CHECK(shape_error([] { Tensor::zeros({0}).item(); }) ==
        "item: the tensor has 0 numbers, not 1\n  x  [0]" + rest);
  CHECK(shape_error([] { Tensor().item(); }) == "item: the tensor has 0 numbers, not 1\n  x  []" + rest);
}

TEST_CASE("an axis that does not exist is named by the op that asked for it") {
  const Tensor x = called("q", {2, 3}), row = called("r", {3});
  const auto text_for = [](const std::string& asked, const std::string& tensor) {
    return asked + "\n  x = " + tensor +
           "\n  rule: axes run from 0 to rank - 1, or from -1 (the last) to -rank";
  };
  CHECK(shape_error([&] { x.dim(2); }) ==
        text_for("dim: axis 2 does not exist in a tensor of rank 2", "q  [2, 3]"));
  CHECK(shape_error([&] { x.dim(-3); }) ==
        text_for("dim: axis -3 does not exist in a tensor of rank 2", "q  [2, 3]"));
  CHECK(shape_error([&] { transpose(row); }) ==
        text_for("transpose: axis -2 does not exist in a tensor of rank 1", "r  [3]"));
  CHECK(shape_error([&] {
          permute(x, {0, 2});
        }) == text_for("permute: axis 2 does not exist in a tensor of rank 2", "q  [2, 3]"));
  CHECK(shape_error([&] {
          concat({x, x}, 2);
        }) == text_for("concat: axis 2 does not exist in a tensor of rank 2", "q  [2, 3]"));
  CHECK(shape_error([&] { slice(x, 2, 0, 1); }) ==
        text_for("slice: axis 2 does not exist in a tensor of rank 2", "q  [2, 3]"));
  CHECK(shape_error([&] {
          sum(x, {0, 5});
        }) == text_for("sum: axis 5 does not exist in a tensor of rank 2", "q  [2, 3]"));
  CHECK(shape_error([&] { mean(x, {-3}); }) ==
        text_for("mean: axis -3 does not exist in a tensor of rank 2", "q  [2, 3]"));
  const Tensor scalar = called("s", {});
  CHECK(shape_error([&] { softmax(scalar); }) ==
        text_for("softmax: axis -1 does not exist in a tensor of rank 0", "s  []"));
  CHECK(shape_error([&] { log_softmax(scalar); }) ==
        text_for("log_softmax: axis -1 does not exist in a tensor of rank 0", "s  []"));
  CHECK(shape_error([&] { layernorm(scalar, row, row); }) ==
        text_for("layernorm: axis -1 does not exist in a tensor of rank 0", "s  []"));
  CHECK(shape_error([&] { cross_entropy(scalar, {0}); }) ==
        text_for("cross_entropy: axis -1 does not exist in a tensor of rank 0", "s  []"));
}

TEST_CASE("expect_shape names what should have had the shape") {
  CHECK(shape_error([] {
          expect_shape(called("tokens", {2, 3}), "q", {2, 4});
        }) == "q should have shape [2, 4], but has [2, 3]\n"
              "  q = tokens  [2, 3]\n"
              "  rule: a shape comment is a promise");
  CHECK(shape_error([] {
          expect_shape(called("q", {2, 3}), "q", {2, 3, 1});
        }) == "q should have shape [2, 3, 1], but has [2, 3]\n"
              "  q  [2, 3]\n"
              "  rule: a shape comment is a promise");
  expect_shape(called("q", {2, 3}), "q", {2, 3});
}

// ---- gradients

TEST_CASE("a constant has no gradient to read") {
  CHECK(value_error([] { called("x", {2}).grad(); }) ==
        "grad: 'x' collects no gradient\n"
        "  x  [2]\n"
        "  rule: a gradient is kept for parameters, and for results made from them\n"
        "  hint: make the leaf with .requires_grad(), outside of NoGrad");
}

TEST_CASE("backward needs a loss that depends on something") {
  CHECK(value_error([] { sum(called("x", {2})).backward(); }) ==
        "backward: 'sum' does not depend on any tensor with a gradient\n"
        "  loss = sum  []\n"
        "  rule: backward starts from a result of tensors made with .requires_grad()\n"
        "  hint: was it computed inside NoGrad, or from constants only?");
}

TEST_CASE("backward needs a loss that is a single number") {
  CHECK(shape_error([] {
          exp(called("x", {2, 3}).requires_grad()).backward();
        }) == "backward: the loss has 6 numbers, not 1\n"
              "  loss = exp  [2, 3]\n"
              "  rule: backward starts from a single number, usually a mean\n"
              "  hint: reduce it first: mean(loss).backward() or sum(loss).backward()");
}

// ---- ops

TEST_CASE("sizes that cannot be broadcast are named, with their axis and both tensors") {
  const std::string rest = "\n  rule: aligned at the last axis, two sizes must be equal, or one of them 1\n"
                           "  hint: reshape puts a 1 where an operand is to be repeated";
  const Tensor x = called("x", {2, 3}), bias = called("bias", {2});
  const std::string pair = "\n  a = x  [2, 3]\n  b = bias  [2]";
  CHECK(shape_error([&] { x + bias; }) == "add: sizes 3 and 2 on axis -1 do not match" + pair + rest);
  CHECK(shape_error([&] { x - bias; }) == "sub: sizes 3 and 2 on axis -1 do not match" + pair + rest);
  CHECK(shape_error([&] { x* bias; }) == "mul: sizes 3 and 2 on axis -1 do not match" + pair + rest);
  CHECK(shape_error([&] { x / bias; }) == "div: sizes 3 and 2 on axis -1 do not match" + pair + rest);
  CHECK(shape_error([&] {
          called("p", {4, 2, 3}) + called("q", {5, 1, 3});
        }) == "add: sizes 4 and 5 on axis -3 do not match\n  a = p  [4, 2, 3]\n  b = q  [5, 1, 3]" + rest);
  CHECK(shape_error([&] {
          called("p", {4, 2, 3}) + Tensor::zeros({0, 1, 1});
        }) == "add: sizes 4 and 0 on axis -3 do not match\n  a = p  [4, 2, 3]\n  b  [0, 1, 1]" + rest);
  CHECK(shape_error([&] {
          matmul(called("p", {4, 2, 3}), called("q", {5, 3, 2}));
        }) == "matmul: sizes 4 and 5 on axis -3 do not match\n  a = p  [4, 2, 3]\n  b = q  [5, 3, 2]" + rest);
  CHECK(shape_error([&] {
          Allow({2, 3}, {1, 1, 1, 1, 1, 1}) & Allow({1, 2}, {1, 1});
        }) ==
        "Allow &: sizes 3 and 2 on axis -1 do not match\n  a = left  [2, 3]\n  b = right  [1, 2]" + rest);
}

TEST_CASE("matmul names the inner dimensions, and sees where a transpose is missing") {
  CHECK(shape_error([] {
          matmul(called("q", {2, 5, 4}), called("v", {2, 3, 6}));
        }) == "matmul: inner dimensions 4 and 3 differ\n"
              "  a = q  [2, 5, 4]\n"
              "  b = v  [2, 3, 6]\n"
              "  rule: [..., M, K] times [..., K, N] gives [..., M, N]");
  CHECK(shape_error([] {
          matmul(called("q", {2, 5, 4}), called("k", {2, 3, 4}));
        }) == "matmul: inner dimensions 4 and 3 differ\n"
              "  a = q  [2, 5, 4]\n"
              "  b = k  [2, 3, 4]\n"
              "  rule: [..., M, K] times [..., K, N] gives [..., M, N]\n"
              "  hint: matmul(a, transpose(b)) would fit");
}

TEST_CASE("linear wants a matrix and a bias for each of its columns") {
  const Tensor x = called("x", {2, 3}), weight = called("w", {3, 4});
  const std::string asked = "linear: the weight must be a matrix, with one bias for each of its columns\n";
  const std::string rule = "\n  rule: x [..., K], weight [K, N], bias [N]";
  CHECK(shape_error([&] { linear(x, weight, called("b", {3})); }) ==
        asked + "  weight = w  [3, 4]\n  bias = b  [3]" + rule);
  CHECK(shape_error([&] {
          linear(called("x", {5, 2, 3}), called("w", {5, 3, 4}), called("b", {4}));
        }) == asked + "  weight = w  [5, 3, 4]\n  bias = b  [4]" + rule);
}

TEST_CASE("reshape counts the numbers") {
  const Tensor x = called("x", {2, 3});
  const std::string rest = "\n  x  [2, 3]\n"
                           "  rule: reshape keeps every number, so the sizes multiplied must stay the same\n"
                           "  hint: one size may be -1: it becomes what is left over";
  CHECK(shape_error([&] { reshape(x, {2, 2}); }) == "reshape: 6 numbers do not fill shape [2, 2]" + rest);
  CHECK(shape_error([&] { reshape(x, {4, -1}); }) == "reshape: 6 numbers do not fill shape [4, -1]" + rest);
  CHECK(shape_error([&] { reshape(x, {-1, -1}); }) == "reshape: 6 numbers do not fill shape [-1, -1]" + rest);
  CHECK(shape_error([&] { reshape(x, {0, -1}); }) == "reshape: 6 numbers do not fill shape [0, -1]" + rest);
  CHECK(shape_error([&] { reshape(x, {}); }) == "reshape: 6 numbers do not fill shape []" + rest);
  CHECK(shape_error([&] {
          reshape(x, {-2, -3});
        }) == "shape [-2, -3] has the negative size -2\n"
              "  rule: every size of a shape is 0 or more\n"
              "  hint: only reshape takes a -1, once, for the size that is left over");
}

TEST_CASE("permute wants every axis once") {
  const Tensor x = called("x", {2, 3, 4});
  const std::string rest = "\n  x  [2, 3, 4]\n"
                           "  rule: every axis of x is named once; axis i of the result is axis axes[i] of x";
  CHECK(shape_error([&] { permute(x, {0, 1}); }) == "permute: [0, 1] is not an order of 3 axes" + rest);
  CHECK(shape_error([&] {
          permute(x, {0, 1, -2});
        }) == "permute: [0, 1, -2] is not an order of 3 axes" + rest);
  CHECK(shape_error([&] { permute(x, {}); }) == "permute: [] is not an order of 3 axes" + rest);
}

TEST_CASE("concat wants parts that fit") {
  const Tensor a = called("a", {2, 3}), b = called("b", {4, 3});
  CHECK(shape_error([&] {
          concat({a, a, b}, 1);
        }) == "concat: part 2 does not fit part 0 on axis 1\n"
              "  part 0 = a  [2, 3]\n"
              "  part 2 = b  [4, 3]\n"
              "  rule: all sizes but that of the axis must be equal");
  CHECK(shape_error([&] {
          concat({a, called("c", {2})}, -1);
        }) == "concat: part 1 does not fit part 0 on axis -1\n"
              "  part 0 = a  [2, 3]\n"
              "  part 1 = c  [2]\n"
              "  rule: all sizes but that of the axis must be equal");
  CHECK(value_error([] { concat({}, 0); }) == "concat: there is nothing to put together\n"
                                              "  rule: one part at least");
}

TEST_CASE("slice stays inside its axis") {
  const Tensor x = called("x", {2, 5});
  const std::string rest = " does not lie within the 5 entries of axis 1\n"
                           "  x  [2, 5]\n"
                           "  rule: 0 <= start <= stop <= size; stop itself is left out";
  CHECK(shape_error([&] { slice(x, 1, 2, 6); }) == "slice: 2 .. 6" + rest);
  CHECK(shape_error([&] { slice(x, 1, 3, 2); }) == "slice: 3 .. 2" + rest);
  CHECK(shape_error([&] { slice(x, 1, -1, 2); }) == "slice: -1 .. 2" + rest);
}

TEST_CASE("layernorm wants a weight and a bias per number of the last axis") {
  const std::string rest = "\n  rule: one weight and one bias per number of the last axis";
  const Tensor x = called("x", {2, 3}), three = called("w3", {3}), two = called("w2", {2});
  CHECK(shape_error([&] { layernorm(x, two, three); }) ==
        "layernorm: rows of 3 numbers need a weight and a bias of 3\n"
        "  x  [2, 3]\n  weight = w2  [2]\n  bias = w3  [3]" +
            rest);
  CHECK(shape_error([&] { layernorm(x, three, two); }) ==
        "layernorm: rows of 3 numbers need a weight and a bias of 3\n"
        "  x  [2, 3]\n  weight = w3  [3]\n  bias = w2  [2]" +
            rest);
}

TEST_CASE("embedding refuses ids outside its table, and shapes that hold other ids") {
  const Tensor table = called("tokens", {5, 4});
  const std::string rest = "\n  table = tokens  [5, 4]\n"
                           "  rule: ids run from 0 to 4\n"
                           "  hint: is the vocabulary too small, or the sequence longer than the position "
                           "table?";
  CHECK(value_error([&] {
          embedding(table, {0, 5}, {2});
        }) == "embedding: id 5 at position 1 is outside the table of 5 rows" + rest);
  CHECK(value_error([&] { embedding(table, {-1}, {}); }) ==
        "embedding: id -1 at position 0 is outside the table of 5 rows" + rest);
  CHECK(shape_error([&] {
          embedding(table, {0, 1, 2}, {2, 2});
        }) == "embedding: 3 ids in shape [2, 2] cannot be looked up\n"
              "  table = tokens  [5, 4]\n"
              "  rule: the table is [V, D], and the shape of the ids holds exactly the ids");
  CHECK(shape_error([&] { embedding(called("row", {5}), {0}, {1}); }) ==
        "embedding: 1 ids in shape [1] cannot be looked up\n"
        "  table = row  [5]\n"
        "  rule: the table is [V, D], and the shape of the ids holds exactly the ids");
}

TEST_CASE("dropout wants a probability below 1") {
  Random random(1);
  const Tensor x = called("x", {2, 3});
  const std::string rest = " is not in 0 <= p < 1\n"
                           "  x  [2, 3]\n"
                           "  rule: p is the share of numbers set to 0; the rest is divided by 1 - p";
  CHECK(value_error([&] { dropout(x, 1, random); }) == "dropout: probability 1" + rest);
  CHECK(value_error([&] { dropout(x, Scalar(-0.25), random); }) == "dropout: probability -0.25" + rest);
  const Scalar none = std::numeric_limits<Scalar>::quiet_NaN();
  CHECK(value_error([&] { dropout(x, none, random); }) == "dropout: probability nan" + rest);
}

TEST_CASE("cross_entropy counts targets and looks at each") {
  const Tensor logits = called("logits", {2, 3, 4});
  CHECK(shape_error([&] {
          cross_entropy(logits, {0, 1});
        }) == "cross_entropy: 2 targets for 6 rows of logits\n"
              "  logits  [2, 3, 4]\n"
              "  rule: one target for each row of V logits");
  CHECK(shape_error([&] {
          cross_entropy(called("empty", {2, 0}), {0, 0});
        }) == "cross_entropy: 2 targets for 0 rows of logits\n"
              "  logits = empty  [2, 0]\n"
              "  rule: one target for each row of V logits");
  CHECK(value_error([&] {
          cross_entropy(called("y", {2, 4}), {3, 4});
        }) == "cross_entropy: target 4 of row 1 is not one of 4 classes\n"
              "  logits = y  [2, 4]\n"
              "  rule: targets run from 0 to 3; -100 is ignored");
  CHECK(value_error([&] {
          cross_entropy(called("y", {2, 4}), {-100, 0}, {.ignore_index = -1});
        }) == "cross_entropy: target -100 of row 0 is not one of 4 classes\n"
              "  logits = y  [2, 4]\n"
              "  rule: targets run from 0 to 3; -1 is ignored");
}

// ---- masks

TEST_CASE("a product with a vector is refused, and says how to make a row or a column of it") {
  const std::string rule =
      "  rule: [..., M, K] times [..., K, N] gives [..., M, N]; a vector is not taken for a row or a column\n";
  CHECK(shape_error([] { (void)matmul(called("a", {2}), called("b", {2})); }) ==
        "matmul: a has 1 axes, and a matrix has two\n  a  [2]\n  b  [2]\n" + rule +
            "  hint: make it a row: reshape(a, {1, 2}), or a column: reshape(b, {2, 1})");
  CHECK(shape_error([] {
          (void)matmul(called("a", {3}), called("b", {3, 4}));
        }) == "matmul: a has 1 axes, and a matrix has two\n  a  [3]\n  b  [3, 4]\n" + rule +
                  "  hint: make it a row: reshape(a, {1, 3})");
  CHECK(shape_error([] {
          (void)matmul(called("a", {2, 3, 4}), called("b", {4}));
        }) == "matmul: b has 1 axes, and a matrix has two\n  a  [2, 3, 4]\n  b  [4]\n" + rule +
                  "  hint: make it a column: reshape(b, {4, 1})");
}

TEST_CASE("Allow counts its flags") {
  CHECK(shape_error([] {
          Allow({2, 3}, {1, 0, 1});
        }) == "Allow: shape [2, 3] holds 6 flags, but 3 were given\n"
              "  rule: one flag per query and key: 1 = may attend, 0 = may not");
}

TEST_CASE("a causal mask has no negative past and no negative sizes") {
  CHECK(value_error([] { Allow::causal(2, 3, -1); }) ==
        "Allow::causal: past -1 is below 0\n"
        "  rule: past counts the keys that stand before the first query");
  CHECK(value_error([] { Allow::causal(2, 3, 4); }) ==
        "Allow::causal: past 4 is more than all 3 keys\n"
        "  rule: past counts the keys that stand before the first query");
  CHECK(Allow::causal(2, 3, 3).flags() == std::vector<unsigned char>(6, 1));
  CHECK_THROWS_AS(Allow::causal(-2, 3, 0), ShapeError);
  const std::vector<int> lengths = {1};
  CHECK_THROWS_AS(Allow::lengths(lengths, -1), ShapeError);
}

TEST_CASE("a length is one of 0 .. S") {
  const auto refusal = [](int length) {
    const std::vector<int> lengths = {2, length};
    return value_error([&] { Allow::lengths(lengths, 3); });
  };
  const std::string rest = ", with 3 keys\n"
                           "  rule: a length counts the first keys of an item that are no padding: 0 .. S\n"
                           "  hint: count them without the padding, or pad all items to the longest";
  CHECK(refusal(-1) == "Allow::lengths: item 1 has length -1" + rest);
  CHECK(refusal(4) == "Allow::lengths: item 1 has length 4" + rest);
  const std::vector<int> ends = {0, 3};
  CHECK(Allow::lengths(ends, 3).flags() == std::vector<unsigned char>{0, 0, 0, 1, 1, 1});
}

TEST_CASE("a mask per item and key is refused, with the two ways that may have been meant") {
  const Tensor scores = called("scores", {3, 4, 16, 16});
  const std::string rest =
      ": Allow [3, 16] does not fit scores [3, 4, 16, 16]\n"
      "  scores  [3, 4, 16, 16]\n"
      "  rule: a mask is [T, S], or has the rank of the scores, each size equal to theirs or 1\n"
      "  hint: for the keys that each item has: Allow::lengths, or reshape it to [3, 1, 1, 16]";
  const Allow allow({3, 16}, std::vector<unsigned char>(48, 1));
  CHECK(shape_error([&] { (void)softmax(scores, allow); }) == "softmax" + rest);
  std::string of_bias = "add" + rest;
  of_bias.replace(of_bias.find("Allow ["), 5, "Bias");
  CHECK(shape_error([&] { (void)add(scores, Bias{Tensor::zeros({3, 16})}); }) == of_bias);
}

TEST_CASE("a mask that does not fit its scores is refused, with a hint where a head axis is missing") {
  const Tensor scores = called("scores", {2, 4, 3, 5});
  const auto allow = [](const Shape& shape) {
    return Allow(shape, std::vector<unsigned char>(size_t(element_count(shape)), 1));
  };
  const std::string rest = " does not fit scores [2, 4, 3, 5]\n"
                           "  scores  [2, 4, 3, 5]\n"
                           "  rule: a mask is [T, S], or has the rank of the scores, each size equal to "
                           "theirs or 1";
  CHECK(shape_error([&] { softmax(scores, allow({5, 3})); }) == "softmax: Allow [5, 3]" + rest);
  CHECK(shape_error([&] { softmax(scores, allow({1, 5})); }) == "softmax: Allow [1, 5]" + rest);
  CHECK(shape_error([&] { softmax(scores, allow({5})); }) == "softmax: Allow [5]" + rest);
  CHECK(shape_error([&] { softmax(scores, allow({2, 2, 3, 5})); }) == "softmax: Allow [2, 2, 3, 5]" + rest);
  CHECK(shape_error([&] {
          softmax(scores, allow({2, 3, 5}));
        }) == "softmax: Allow [2, 3, 5]" + rest +
                  "\n  hint: one mask per item needs a head axis: reshape it to [2, 1, 3, 5]");
  CHECK(shape_error([&] {
          softmax(scores, Bias{Tensor::zeros({2, 3, 5})});
        }) == "softmax: Bias [2, 3, 5]" + rest +
                  "\n  hint: one mask per item needs a head axis: reshape it to [2, 1, 3, 5]");
  CHECK(shape_error([&] { softmax(scores, Bias{Tensor::zeros({4, 5})}); }) == "softmax: Bias [4, 5]" + rest);
  // Where the batch is as large as the number of heads every size would fit, and the items meet the heads.
  CHECK(shape_error([&] {
          softmax(called("s", {2, 2, 3, 5}), allow({2, 3, 5}));
        }) == "softmax: Allow [2, 3, 5] does not fit scores [2, 2, 3, 5]\n"
              "  scores = s  [2, 2, 3, 5]\n"
              "  rule: a mask is [T, S], or has the rank of the scores, each size equal to theirs or 1\n"
              "  hint: one mask per item needs a head axis: reshape it to [2, 1, 3, 5]");
  CHECK(shape_error([&] {
          softmax(called("s", {2, 3, 5}), allow({1, 2, 3, 5}));
        }) == "softmax: Allow [1, 2, 3, 5] does not fit scores [2, 3, 5]\n"
              "  scores = s  [2, 3, 5]\n"
              "  rule: a mask is [T, S], or has the rank of the scores, each size equal to theirs or 1");
  CHECK(shape_error([&] { softmax(called("row", {5}), allow({5})); }) ==
        "softmax: Allow [5] does not fit scores [5]\n"
        "  scores = row  [5]\n"
        "  rule: a mask is [T, S], or has the rank of the scores, each size equal to theirs or 1");
}

// The rules of backward by value: gradients add, graphs are walked once, memory comes back.
#include <cmath>

#include "catch.h"
#include "core/node.h"
#include "core/ops.h"

using namespace headway;

namespace {

Tensor leaf(Scalar value) { return Tensor::full({}, value).requires_grad(); }

int64_t live_bytes() { return pool_use().live_bytes; }

// 1024 numbers fill their size class exactly, so bytes can be counted in whole tensors.
constexpr int64_t block = 1024 * int64_t(sizeof(Scalar));

}  // namespace

// ---- values

TEST_CASE("a node that is used twice hands on one whole gradient") {
  const Tensor a = leaf(1);
  const Tensor b = a + a;
  (b + b).backward();
  CHECK(a.grad().item() == 4);

  const Tensor p = leaf(2), q = leaf(3);
  const Tensor c = p + q, d = p * q;
  ((c + d) + c * d).backward();
  CHECK(p.grad().item() == 25);
  CHECK(q.grad().item() == 19);
}

TEST_CASE("a node that is reached on paths of different lengths waits for the longest") {
  const Tensor x = leaf(3);
  const Tensor y = x * x;                  // []
  const Tensor z = scale(neg(neg(y)), 2);  // []
  (z * y + y).backward();                  // 2 y^2 + y with y = x^2
  CHECK(x.grad().item() == 4 * 2 * 27 + 2 * 3);
}

TEST_CASE("two graphs over the same leaves add their gradients") {
  const Tensor a = leaf(3), b = leaf(2), d = leaf(1);
  ((a + b) * d).backward();
  CHECK(a.grad().item() == 1);
  CHECK(b.grad().item() == 1);
  CHECK(d.grad().item() == 5);
  ((a + b) * d).backward();
  CHECK(a.grad().item() == 2);
  CHECK(b.grad().item() == 2);
  CHECK(d.grad().item() == 10);
}

TEST_CASE("without zero_grad the second step sees twice the gradient") {
  const Tensor w = leaf(3);
  for (int step = 0; step < 2; step++) {
    w.zero_grad();
    (w * w).backward();
    CHECK(w.grad().item() == 6);
  }
  (w * w).backward();
  CHECK(w.grad().item() == 12);
}

TEST_CASE("zero_grad clears one tensor and no other") {
  const Tensor a = Tensor::from({2}, {3, 4}).requires_grad(), b = leaf(2);
  sum(a * b).backward();
  a.zero_grad();
  CHECK(a.grad().at({0}) == 0);
  CHECK(a.grad().at({1}) == 0);
  CHECK(b.grad().item() == 7);
  Tensor::zeros({2}).zero_grad();  // a constant has nothing to clear
}

TEST_CASE("before any backward a gradient is zeros in the shape of its tensor") {
  const Tensor w = Tensor::full({2, 3}, 7).requires_grad();
  CHECK(w.grad().shape() == Shape{2, 3});
  for (const Tensor gradient = w.grad(); Scalar g : gradient.values()) CHECK(g == 0);
}

TEST_CASE("a leaf can be its own loss, and collects like any other") {
  const Tensor w = leaf(5);
  (w * w).backward();
  w.backward();
  w.backward();
  CHECK(w.grad().item() == 10 + 1 + 1);
}

TEST_CASE("a loss of shape [1, 1] is a single number too") {
  const Tensor w = Tensor::full({1, 1}, 5).requires_grad();
  (w * w).backward();
  CHECK(w.grad().at({0, 0}) == 10);
}

TEST_CASE("the gradient of a repeated operand is summed back to its own shape") {
  const Tensor x = Tensor::full({3, 4}, 1).requires_grad(), row = Tensor::full({1, 4}, 1).requires_grad();
  sum(x + row).backward();
  CHECK(row.grad().shape() == Shape{1, 4});
  for (const Tensor gradient = row.grad(); Scalar g : gradient.values()) CHECK(g == 3);
  for (const Tensor gradient = x.grad(); Scalar g : gradient.values()) CHECK(g == 1);

  const Tensor column = Tensor::from({4, 1}, {1, 2, 3, 4}).requires_grad();
  const Tensor factor = Tensor::from({1, 4}, {5, 6, 7, 9}).requires_grad();
  sum(column * factor).backward();
  CHECK(column.grad().shape() == Shape{4, 1});
  CHECK(factor.grad().shape() == Shape{1, 4});
  for (const Tensor gradient = column.grad(); Scalar g : gradient.values()) CHECK(g == 5 + 6 + 7 + 9);
  for (const Tensor gradient = factor.grad(); Scalar g : gradient.values()) CHECK(g == 1 + 2 + 3 + 4);
}

TEST_CASE("the gradient of a mean over two axes has the shape of what went in") {
  const Tensor x = Tensor::full({2, 3, 4}, 1).requires_grad();
  sum(mean(x, {1, 2})).backward();
  CHECK(x.grad().shape() == Shape{2, 3, 4});
  for (const Tensor gradient = x.grad(); Scalar g : gradient.values())
    CHECK(g == Approx(0.083333).epsilon(1e-5));
}

TEST_CASE("the gradient of a permutation goes back the way it came") {
  const Tensor x = Tensor::zeros({2, 3}).requires_grad();
  const Tensor weights = Tensor::from({3, 2}, {0, 1, 2, 3, 4, 5});
  const Tensor y = permute(x, {-1, -2});  // [3, 2]
  CHECK(y.shape() == Shape{3, 2});
  sum(y * weights).backward();
  const std::vector<Scalar> expected = {0, 2, 4, 1, 3, 5};
  for (size_t i = 0; i < 6; i++) CHECK(x.grad().data()[i] == expected[i]);
}

TEST_CASE("y + tanh x has the slope of both") {
  const Tensor x = leaf(Scalar(0.5));
  (tanh(x) + x).backward();
  CHECK(x.grad().item() == Approx(1.786448).epsilon(1e-6));
}

TEST_CASE("softmax and its loss pass no gradient to what is blocked, and none of it is NaN") {
  const Tensor x = Tensor::full({2, 3}, 1).requires_grad();
  const Tensor y = softmax(x, Allow({2, 3}, {1, 1, 0, 0, 0, 0}));  // [2, 3], the second row is dead
  sum(y * Tensor::from({2, 3}, {1, 2, 3, 4, 5, 6})).backward();
  const std::vector<Scalar> expected = {Scalar(-0.25), Scalar(0.25), 0, 0, 0, 0};
  for (size_t i = 0; i < 6; i++) CHECK(x.grad().data()[i] == expected[i]);
}

TEST_CASE("a loss in which every target is ignored is 0 and has the gradient 0") {
  const Tensor logits = Tensor::from({2, 3}, {1, 2, 3, 4, 5, 6}).requires_grad();
  const Tensor loss = cross_entropy(logits, {-100, -100});  // []
  CHECK(loss.item() == 0);
  loss.backward();
  for (const Tensor gradient = logits.grad(); Scalar g : gradient.values()) CHECK(g == 0);
}

// ---- who has a gradient

TEST_CASE("a result keeps its gradient while somebody holds it") {
  const Tensor x = leaf(3);
  const Tensor y = x * x;           // []
  const Tensor loss = scale(y, 5);  // []
  loss.backward();
  CHECK(y.grad().item() == 5);
  CHECK(loss.grad().item() == 1);
  CHECK(x.grad().item() == 30);
}

TEST_CASE("a result of constants has no node") {
  const Tensor x = Tensor::full({2}, 1);
  CHECK_FALSE((x + x).has_node());
  CHECK((x + x.requires_grad()).has_node());
}

TEST_CASE("detach cuts the history and keeps the numbers") {
  const Tensor x = leaf(3);
  const Tensor y = x * x;  // []
  CHECK_FALSE(y.detach().has_node());
  CHECK(y.detach().data() == y.data());
  (x * y.detach()).backward();
  CHECK(x.grad().item() == 9);
}

TEST_CASE("requires_grad on a result starts a leaf of its own on the same numbers") {
  const Tensor x = leaf(3);
  const Tensor y = x * x;                  // []
  const Tensor fresh = y.requires_grad();  // []
  CHECK(fresh.data() == y.data());
  (fresh * fresh).backward();
  CHECK(fresh.grad().item() == 18);
  CHECK(y.grad().item() == 0);
  CHECK(x.grad().item() == 0);
}

TEST_CASE("inside NoGrad ops leave no nodes, and after it they do again") {
  const Tensor x = leaf(3);
  const int64_t nodes = live_nodes();
  {
    const NoGrad outer;
    {
      const NoGrad inner;
      CHECK_FALSE((x * x).has_node());
    }
    CHECK_FALSE((x * x).has_node());
    CHECK((x * x).item() == 9);
    CHECK(live_nodes() == nodes);
  }
  CHECK((x * x).has_node());
}

TEST_CASE("recording goes on after an exception inside NoGrad") {
  const Tensor x = leaf(3);
  CHECK_THROWS_AS(([&] {
                    const NoGrad no_grad;
                    x.at({7});
                  }()),
                  ShapeError);
  CHECK((x * x).has_node());
}

// ---- what is refused

TEST_CASE("a second backward through one graph is refused and changes no gradient") {
  const Tensor w = Tensor::from({2}, {3, 4}).requires_grad();
  const Tensor loss = sum(w * w);  // []
  loss.backward();
  CHECK(message_of<ValueError>([&] { loss.backward(); }) ==
        "backward: it has already walked through this sum; its history is gone\n"
        "  result of sum  []\n"
        "  rule: one graph, one backward: the second would add stale gradients\n"
        "  hint: compute the loss again; gradients then add up until zero_grad");
  CHECK(w.grad().at({0}) == 6);
  CHECK(w.grad().at({1}) == 8);
}

TEST_CASE("a second loss over a part that was walked through is refused") {
  const Tensor w = Tensor::from({2}, {3, 4}).requires_grad();
  const Tensor shared = w * w;                              // [2]
  const Tensor first = sum(shared), second = mean(shared);  // []
  first.backward();
  CHECK(message_of<ValueError>([&] { second.backward(); }) ==
        "backward: it has already walked through this mul; its history is gone\n"
        "  result of mul  [2]\n"
        "  rule: one graph, one backward: the second would add stale gradients\n"
        "  hint: compute the loss again; gradients then add up until zero_grad");
  CHECK(w.grad().at({0}) == 6);
}

TEST_CASE("writing into a result is refused") {
  const Tensor x = leaf(Scalar(0.5));
  Tensor y = tanh(x);  // []
  CHECK(message_of<ValueError>([&] { y.mutable_values()[0] += Scalar(0.5); }) ==
        "mutable_values: 'tanh' is the result of tanh, and a backward may still read it\n"
        "  x = tanh  []\n"
        "  rule: only tensors that no op made may be written in place\n"
        "  hint: make a new tensor (y = y + x), or write into x.detach() after backward");
}

TEST_CASE("a gradient that an op has read is cleared before its backward: refused") {
  const Tensor w = Tensor::from({2}, {3, 4}).named("w").requires_grad();
  sum(w * w).backward();  // w.grad() is {6, 8}
  const Tensor g = w.grad();
  const Tensor y = sum(g * w);  // []
  w.zero_grad();
  CHECK(message_of<ValueError>([&] { y.backward(); }) ==
        "backward: 'grad of w' was written to after mul had read it\n"
        "  saved = grad of w  [2]\n"
        "  rule: what a backward reads must be what its forward read\n"
        "  hint: call backward before the optimiser step or any other writing in place");
}

TEST_CASE("a gradient that an op has read is added to by another backward: refused") {
  const Tensor w = leaf(3), v = leaf(2);
  const Tensor g = w.grad();
  const Tensor y = g * v;  // []
  (w * w).backward();
  CHECK_THROWS_AS(y.backward(), ValueError);
  CHECK(v.grad().item() == 0);
}

TEST_CASE("a graph may not read a gradient that its own backward adds to; a copy it may") {
  const Tensor w = Tensor::from({2}, {3, 4}).named("w").requires_grad();
  sum(w * w).backward();  // w.grad() is {6, 8}
  const Tensor g = w.grad();
  CHECK(message_of<ValueError>([&] { sum(g * w).backward(); }) ==
        "backward: mul reads 'grad of w', which this backward adds to\n"
        "  saved = grad of w  [2]\n"
        "  rule: what a backward reads must be what its forward read\n"
        "  hint: read a copy of the gradient: Tensor::from(g.shape(), g.values())");
  CHECK(w.grad().at({0}) == 6);
  w.zero_grad();
  const Tensor copy = Tensor::from({2}, {6, 8});
  sum(copy * w).backward();
  CHECK(w.grad().at({0}) == 6);
  CHECK(w.grad().at({1}) == 8);
}

TEST_CASE("writing into a leaf between an op that saved it and its backward is refused") {
  const Tensor x = Tensor::from({2}, {1, 2}).named("x");
  Tensor w = Tensor::from({2}, {3, 4}).named("w").requires_grad();
  const Tensor loss = sum(w * x);  // []
  w.mutable_values()[0] = 5;
  CHECK(message_of<ValueError>([&] { loss.backward(); }) ==
        "backward: 'w' was written to after mul had read it\n"
        "  saved = w  [2]\n"
        "  rule: what a backward reads must be what its forward read\n"
        "  hint: call backward before the optimiser step or any other writing in place");
}

TEST_CASE("writing into a constant that an op saved is refused as well") {
  Tensor x = Tensor::from({2}, {1, 2});
  const Tensor w = Tensor::from({2}, {3, 4}).requires_grad();
  const Tensor loss = sum(w * x);  // []
  x.mutable_values()[0] = 5;
  CHECK_THROWS_AS(loss.backward(), ValueError);
}

TEST_CASE("writing into a result through a detached handle is seen by backward") {
  const Tensor w = Tensor::from({2}, {3, 4}).requires_grad();
  const Tensor e = exp(w);     // [2]
  const Tensor loss = sum(e);  // []
  e.detach().mutable_values()[0] = 0;
  CHECK_THROWS_AS(loss.backward(), ValueError);
}

TEST_CASE("writing into a leaf that nobody saved does no harm") {
  Tensor w = Tensor::from({2}, {3, 4}).requires_grad();
  const Tensor loss = sum(w + w);  // []
  w.mutable_values()[0] = 5;
  loss.backward();
  CHECK(w.grad().at({0}) == 2);
}

TEST_CASE("writing into a leaf after backward is what an optimiser does") {
  Tensor w = Tensor::from({2}, {3, 4}).requires_grad();
  for (int step = 0; step < 3; step++) {
    w.zero_grad();
    sum(w * w).backward();
    const Tensor g = w.grad();  // [2]
    for (size_t i = 0; i < 2; i++) w.mutable_values()[i] -= Scalar(0.25) * g.data()[i];
  }
  CHECK(w.at({0}) == Scalar(0.375));  // halved three times
  CHECK(w.at({1}) == Scalar(0.5));
}

// ---- NaN

TEST_CASE("WatchForNaN stops at the first op that made a NaN") {
  const Tensor x = Tensor::from({3}, {2, 1, -1}).named("x");
  const auto chain = [&] { return sum(exp(log(scale(x, 2)))); };
  CHECK(std::isnan(chain().item()));  // without it the NaN travels on
  {
    const WatchForNaN check;
    { const WatchForNaN nested; }  // its end is not the end of the outer one
    CHECK(message_of<ValueError>(chain) ==
          "log made the first NaN, at position 2 of its result\n"
          "  result = log  [3]\n"
          "  input = scale  [3]\n"
          "  rule: no input was NaN, the result is\n"
          "  hint: look for inf - inf, 0 / 0, the log or sqrt of a negative number, or a learning rate that "
          "is too high");
  }
  CHECK(std::isnan(chain().item()));  // and after it as well
}

TEST_CASE("WatchForNaN names every input of the op, and lets infinities pass") {
  const WatchForNaN check;
  const Tensor zero = Tensor::zeros({2}).named("zero"), one = Tensor::full({}, 1).named("one");
  const Tensor infinite = one / zero;  // [2]
  CHECK(std::isinf(infinite.at({1})));
  CHECK(message_of<ValueError>([&] { infinite - infinite; }) ==
        "sub made the first NaN, at position 0 of its result\n"
        "  result = sub  [2]\n"
        "  input = div  [2]\n"
        "  input = div  [2]\n"
        "  rule: no input was NaN, the result is\n"
        "  hint: look for inf - inf, 0 / 0, the log or sqrt of a negative number, or a learning rate that is "
        "too high");
}

TEST_CASE("the compiler's flags keep NaN and infinity apart from numbers") {
  const Tensor zero = Tensor::zeros({1}), one = Tensor::full({1}, 1);
  CHECK(std::isnan((zero / zero).at({0})));
  CHECK(std::isinf((one / zero).at({0})));
  CHECK(std::isinf(log(zero).at({0})));
  CHECK(std::isnan(sqrt(neg(one)).at({0})));
  CHECK_FALSE(zero.at({0}) / zero.at({0}) == zero.at({0}) / zero.at({0}));
}

// ---- memory

TEST_CASE("a chain of a million additions differentiates and is freed") {
  const Tensor x = leaf(1), one = Tensor::full({}, 1);
  const int64_t nodes = live_nodes();
  {
    Tensor y = x;
    for (int i = 0; i < 1000000; i++) y = y + one;
    CHECK(live_nodes() == nodes + 1000000);
    CHECK(y.item() == 1000001);
    y.backward();
    CHECK(x.grad().item() == 1);
  }
  CHECK(live_nodes() == nodes);
}

TEST_CASE("a chain of a million additions that nobody walks is freed too") {
  const Tensor x = leaf(1);
  const int64_t nodes = live_nodes();
  {
    Tensor y = x;
    for (int i = 0; i < 1000000; i++) y = i % 1000 ? y + x : y + y;  // parents on both sides
  }
  CHECK(live_nodes() == nodes);
}

TEST_CASE("a handle in the middle keeps its half of a chain, and no more") {
  const Tensor x = leaf(1);
  const int64_t nodes = live_nodes();
  Tensor middle;
  {
    Tensor y = x;
    for (int i = 0; i < 100; i++) {
      y = y + x;
      if (i == 39) middle = y;
    }
  }
  CHECK(live_nodes() == nodes + 40);
  middle.backward();
  CHECK(x.grad().item() == 41);
  CHECK(live_nodes() == nodes + 1);
}

TEST_CASE("after each step only the parameters have nodes, and memory stays flat") {
  const int64_t nodes = live_nodes();
  Random random(1);
  const Tensor x = Tensor::uniform({6, 5}, -1, 1, random);  // [B, D]
  std::vector<Tensor> parameters = {Tensor::uniform({5, 4}, -1, 1, random).requires_grad(),
                                    Tensor::uniform({4}, -1, 1, random).requires_grad()};
  PoolUse after_first = {};
  for (int step = 0; step < 1000; step++) {
    for (const Tensor& p : parameters) p.zero_grad();
    mean(pow(softmax(tanh(matmul(x, parameters[0]) + parameters[1])), 2)).backward();
    for (Tensor& p : parameters) {
      const Tensor g = p.grad();
      for (int64_t i = 0; i < p.size(); i++) p.mutable_values()[size_t(i)] -= Scalar(0.1) * g.data()[i];
    }
    if (step == 0) after_first = pool_use();
    REQUIRE(live_nodes() == nodes + 2);
    REQUIRE(pool_use().live_bytes == after_first.live_bytes);
    REQUIRE(pool_use().kept_bytes == after_first.kept_bytes);
  }
}

TEST_CASE("a running total of the loss keeps no graph alive") {
  const Tensor w = Tensor::from({3}, {1, 2, 3}).requires_grad();
  const int64_t nodes = live_nodes();
  double total = 0;
  Tensor running = Tensor::zeros({});
  int64_t bytes = 0;
  for (int step = 0; step < 10000; step++) {
    const Tensor loss = mean(w * w);  // []
    loss.backward();
    total += loss.item();
    running = running + loss.detach();
    if (step == 1) bytes = live_bytes();
    if (step > 1) REQUIRE(live_bytes() == bytes);
  }
  CHECK(live_nodes() == nodes);
  CHECK(total == Approx(10000 * 14.0 / 3).epsilon(1e-6));
  CHECK(running.item() == Approx(total).epsilon(1e-3));
}

TEST_CASE("numbers that no handle and no backward needs go back to the pool at once") {
  const Tensor x = Tensor::full({1024}, 1).requires_grad();
  const int64_t before = live_bytes();
  Tensor y = scale(neg(x + x), 3) - x;  // [1024], four ops that save nothing
  CHECK(live_bytes() - before == block);
  y = exp(y);  // saves its result, which the handle has anyway
  CHECK(live_bytes() - before == block);
  y = log(y);  // saves what it read, so now two are held
  CHECK(live_bytes() - before == 2 * block);
  y = relu(reshape(y, {32, 32}));  // what log saved, what relu saved, and the result
  CHECK(live_bytes() - before == 3 * block);
  y = Tensor();
  CHECK(live_bytes() == before);
}

TEST_CASE("backward gives back what was saved, and leaves one gradient per leaf") {
  const Tensor x = Tensor::full({1024}, 1).requires_grad();
  const int64_t before = live_bytes();
  const Tensor loss = sum(exp(exp(x)));  // []
  const int64_t small = live_bytes() - before - 2 * block;
  loss.backward();
  CHECK(live_bytes() - before == block + 2 * small);  // the gradient of x; the loss and its gradient
  CHECK(small <= 256);
}

TEST_CASE("inside NoGrad nothing is saved") {
  const Tensor x = Tensor::full({1024}, 1).requires_grad();
  const int64_t before = live_bytes();
  const NoGrad no_grad;
  const Tensor y = exp(log(sqrt(x * x)));  // [1024]
  CHECK(live_bytes() - before == block);
}

TEST_CASE("a tensor that is dropped makes room for the next of its size") {
  const int64_t kept = pool_use().kept_bytes;
  { const Tensor x = Tensor::uncleared({1024}); }
  const int64_t with_one = pool_use().kept_bytes;
  { const Tensor x = Tensor::uncleared({1024}); }
  CHECK(pool_use().kept_bytes == with_one);
  CHECK((with_one == kept || with_one == kept + block));
}

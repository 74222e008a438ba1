// Random numbers that carry over to every machine and compiler.
#include "core/random.h"

#include <cstdlib>
#include <vector>

#include "catch.h"
#include "core/tensor.h"

using namespace headway;

namespace {

// The seed after which the next 64 bits are all 1, or all 0: SplitMix64 can be run backwards.
constexpr uint64_t seed_of_ones = 0x31628af67b2131abu, seed_of_zeros = 0x61c8864680b583ebu;

}  // namespace

TEST_CASE("the generator is SplitMix64, with the numbers others get from it") {
  Random random(1234567);
  for (uint64_t expected : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                            4593380528125082431u, 16408922859458223821u}) {
    CHECK(random.bits() == expected);
  }
}

TEST_CASE("seed 1 gives these uniforms, to the last bit") {
  Random random(1);
  for (double expected : {0x1.22145ap-1, 0x1.7dd71ap-1, 0x1.f12744p-1, 0x1.c70618p-2, 0x1.c6ed5p-2,
                          0x1.869a16p-1, 0x1.c133d8p-1, 0x1.0bcf76p-1}) {
    CHECK(double(random.uniform()) == expected);
  }
}

TEST_CASE("a tensor of uniforms takes them in the order of its numbers") {
  Random one(1), same(1);
  const Tensor x = Tensor::uniform({2, 3}, -1, 1, one);
  for (Scalar v : x.values()) CHECK(v == same.uniform(-1, 1));
  CHECK(double(x.at({0, 0})) == 2 * 0x1.22145ap-1 - 1);
}

TEST_CASE("a uniform number reaches its lower end and stays below its upper end") {
  CHECK(Random(seed_of_zeros).bits() == 0);
  CHECK(Random(seed_of_ones).bits() == ~uint64_t(0));
  CHECK(Random(seed_of_zeros).uniform() == 0);
  CHECK(Random(seed_of_zeros).uniform(-3, 5) == -3);
  CHECK(Random(seed_of_ones).uniform() == 1 - Scalar(0x1p-24));
  CHECK(Random(seed_of_ones).uniform(-1, 1) < 1);
}

TEST_CASE("uniforms lie in their range and fill it evenly") {
  Random random(2);
  std::vector<int> count(10);
  double total = 0;
  for (int i = 0; i < 100000; i++) {
    const Scalar u = random.uniform(-2, 3);
    REQUIRE(u >= -2);
    REQUIRE(u < 3);
    total += u;
    count[size_t((u + 2) * 2)]++;
  }
  CHECK(total / 100000 == Approx(0.5).margin(0.02));     // 4 standard deviations of the mean
  for (int c : count) CHECK(std::abs(c - 10000) < 400);  // of a count: 95
}

TEST_CASE("below(n) covers 0 to n-1 evenly and nothing else") {
  for (int n : {1, 2, 6, 7, 100}) {
    Random random(3);
    std::vector<int> count(size_t(n), 0);
    for (int i = 0; i < 1000 * n; i++) {
      const int k = random.below(n);
      REQUIRE(k >= 0);
      REQUIRE(k < n);
      count[size_t(k)]++;
    }
    CAPTURE(n);
    for (int c : count) CHECK(std::abs(c - 1000) < 130);  // 4 standard deviations are 126
  }
  CHECK(Random(seed_of_zeros).below(7) == 0);
  CHECK(Random(seed_of_ones).below(7) == 6);
  CHECK(Random(seed_of_ones).below(2147483647) == 2147483646);
}

TEST_CASE("a stream that is split off has numbers of its own") {
  Random parent(4), twin(4);
  Random child = parent.split();
  Random same_child = twin.split();
  twin.bits();
  parent.bits();
  int equal = 0;
  for (int i = 0; i < 1000; i++) {
    const uint64_t from_child = child.bits(), from_parent = parent.bits();
    equal += from_child == from_parent;
    CHECK(from_child == same_child.bits());  // however often the parent is asked in between
    CHECK(from_parent == twin.bits());
  }
  CHECK(equal == 0);
}

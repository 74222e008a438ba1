// The buffer pool: what comes out of it, how large, and where it stands.
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

#include "catch.h"
#include "core/buffer.h"

using namespace headway;

namespace {

constexpr int64_t number_size = int64_t(sizeof(Scalar));

// Bytes that stand ready for a buffer of `count` numbers.
int64_t class_size(int64_t count) {
  const int64_t before = pool_use().live_bytes;
  const Buffer buffer(count);
  return pool_use().live_bytes - before;
}

}  // namespace

TEST_CASE("a buffer that is given back comes out again") {
  const Scalar* first = nullptr;
  {
    const Buffer buffer(1000);
    first = buffer.data();
  }
  const Buffer again(1000);
  CHECK(again.data() == first);
  const Buffer other(1000);  // while that one is held, another comes
  CHECK(other.data() != first);
  CHECK(again.size() == 1000);
}

TEST_CASE("a buffer serves every size of its class, and no other") {
  const Scalar* first = nullptr;
  {
    const Buffer buffer(4096 / number_size);
    first = buffer.data();
  }
  {
    const Buffer larger(4096 / number_size + 1);
    CHECK(larger.data() != first);
    const Buffer smaller(3584 / number_size);  // 3584 = 2048 * 7 / 4 is the class below 4096
    CHECK(smaller.data() != first);
    const Buffer same_class(3584 / number_size + 1);
    CHECK(same_class.data() == first);
  }
}

TEST_CASE("a class holds what was asked for, and at most a quarter more") {
  int64_t before = 0;
  for (int64_t count = 0; count <= 3000; count++) {
    const int64_t bytes = class_size(count);
    CAPTURE(count, bytes);
    REQUIRE(bytes >= count * number_size);
    REQUIRE(bytes >= before);
    if (count * number_size > 256) REQUIRE(bytes * 4 <= count * number_size * 5);
    before = bytes;
  }
  for (int64_t bytes : {256, 320, 384, 448, 512, 640, 768, 896, 1024, 1 << 20}) {
    CHECK(class_size(bytes / number_size) == bytes);
  }
}

TEST_CASE("buffers of every size stand at multiples of 64 bytes") {
  for (int64_t count = 0; count <= 300; count++) {
    const Buffer buffer(count), second(count);
    REQUIRE(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64 == 0);
    REQUIRE(reinterpret_cast<std::uintptr_t>(second.data()) % 64 == 0);
  }
}

TEST_CASE("buffers that are held do not overlap") {
  std::vector<Buffer*> held;
  for (int64_t count = 0; count <= 200; count++) {
    held.push_back(new Buffer(count));
    for (int64_t i = 0; i < count; i++) held.back()->data()[i] = Scalar(count);
  }
  bool intact = true;
  for (Buffer* buffer : held) {
    for (int64_t i = 0; i < buffer->size(); i++)
      intact = intact && buffer->data()[i] == Scalar(buffer->size());
    delete buffer;
  }
  CHECK(intact);
}

TEST_CASE("bytes move between live and kept, and none is lost") {
  const Buffer warm(500);
  const PoolUse before = pool_use();
  const int64_t bytes = class_size(7777);
  CHECK(pool_use().live_bytes == before.live_bytes);
  const int64_t kept = pool_use().kept_bytes;
  CHECK(kept >= bytes);
  {
    const Buffer buffer(7777);
    CHECK(pool_use().live_bytes == before.live_bytes + bytes);
    CHECK(pool_use().kept_bytes == kept - bytes);
  }
  CHECK(pool_use().live_bytes == before.live_bytes);
  CHECK(pool_use().kept_bytes == kept);
}

TEST_CASE("two threads never hold the same buffer") {
  const auto work = [](Scalar mark, bool* intact) {
    for (int round = 0; round < 300; round++) {
      Buffer a(10 + round % 5), b(10 + round % 7);
      for (int64_t i = 0; i < 10; i++) a.data()[i] = mark, b.data()[i] = -mark;
      for (int64_t i = 0; i < 10; i++) *intact = *intact && a.data()[i] == mark && b.data()[i] == -mark;
    }
  };
  bool first = true, second = true;
  std::thread other(work, Scalar(1), &first);
  work(2, &second);
  other.join();
  CHECK(first);
  CHECK(second);
}

#ifdef HEADWAY_DEBUG
TEST_CASE("in the debug build a buffer is full of NaN") {
  {
    Buffer used(100);
    for (int64_t i = 0; i < 100; i++) used.data()[i] = 1;
  }
  const Buffer buffer(100);
  for (int64_t i = 0; i < 100; i++) REQUIRE(std::isnan(buffer.data()[i]));
}
#endif

// The buffer pool behind core/buffer.h. Buffers come in size classes, four to each doubling, so at most a
// quarter of one is unused; a buffer that is given back waits in the list of its class. The address sanitizer
// is told what is unused and what waits: these macros do nothing in other builds.
#include <sanitizer/asan_interface.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <vector>

#include "core/buffer.h"
#include "core/error.h"

namespace headway {

namespace {

struct Pool {
  std::mutex mutex;
  std::vector<Scalar*> free_lists[4 * 64];
  PoolUse use = {0, 0};
};

// Never destroyed: tensors may outlive main().
Pool& pool() {
  static Pool* const p = new Pool;
  return *p;
}

struct SizeClass {
  size_t index;
  size_t bytes;
};

// The smallest class that holds `bytes`: 256 * 2^i * (4 + q) / 4 for q = 0 .. 3, so whole lines of 64.
SizeClass size_class(size_t bytes) {
  size_t octave = 0, base = 256;
  while (base * 2 < bytes) base *= 2, octave++;
  size_t quarter = 0;
  while (base + quarter * (base / 4) < bytes) quarter++;
  return {4 * octave + quarter, base + quarter * (base / 4)};
}

}  // namespace

Buffer::Buffer(int64_t count) : data_(nullptr), count_(count) {
  const SizeClass size = size_class(size_t(count) * sizeof(Scalar));
  Pool& p = pool();
  {
    const std::lock_guard<std::mutex> lock(p.mutex);
    std::vector<Scalar*>& list = p.free_lists[size.index];
    if (!list.empty()) {
      data_ = list.back();
      list.pop_back();
      p.use.kept_bytes -= int64_t(size.bytes);
    }
    if (!data_) data_ = static_cast<Scalar*>(std::aligned_alloc(64, size.bytes));
    if (data_) p.use.live_bytes += int64_t(size.bytes);
  }
  if (!data_) {
    throw ValueError(Message(text("there is no memory for ", count, " numbers (", size.bytes, " bytes)"))
                         .rule(text("tensors hold ", pool_use().live_bytes, " bytes so far"))
                         .hint("use a smaller batch, a shorter sequence or a narrower model"));
  }
  ASAN_UNPOISON_MEMORY_REGION(data_, size.bytes);
  ASAN_POISON_MEMORY_REGION(data_ + count, size.bytes - size_t(count) * sizeof(Scalar));
#ifdef HEADWAY_FILL
  std::fill_n(data_, count, std::numeric_limits<Scalar>::quiet_NaN());  // whoever forgets to write is seen
#endif
}

Buffer::~Buffer() {
  const SizeClass size = size_class(size_t(count_) * sizeof(Scalar));
  ASAN_POISON_MEMORY_REGION(data_, size.bytes);
  Pool& p = pool();
  const std::lock_guard<std::mutex> lock(p.mutex);
  p.free_lists[size.index].push_back(data_);
  p.use.live_bytes -= int64_t(size.bytes);
  p.use.kept_bytes += int64_t(size.bytes);
}

PoolUse pool_use() {
  const std::lock_guard<std::mutex> lock(pool().mutex);
  return pool().use;
}

}  // namespace headway

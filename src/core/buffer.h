// Memory for numbers. Fresh pages from the system cost ten times as much as memory that is kept, so a buffer
// that is no longer needed goes back to a pool and comes out again for the next tensor of about its size.
#pragma once

#include "core/scalar.h"

namespace headway {

class Buffer {
public:
  // Room for `count` numbers, aligned to 64 bytes and not cleared (the debug and the asan build fill it with
  // NaN).
  explicit Buffer(int64_t count);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  Scalar* data() { return data_; }
  const Scalar* data() const { return data_; }
  int64_t size() const { return count_; }

private:
  Scalar* data_;
  int64_t count_;
};

struct PoolUse {
  int64_t live_bytes;  // in buffers that somebody holds
  int64_t kept_bytes;  // in buffers that wait for their next use
};
PoolUse pool_use();

}  // namespace headway

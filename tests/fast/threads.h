#pragma once

#include "core/parallel.h"

namespace headway {

// Puts the number of threads back as it was, so that no other test notices.
struct Threads {
  Threads() : before(thread_count()) {}
  ~Threads() { set_thread_count(before); }
  int before;
};

}  // namespace headway

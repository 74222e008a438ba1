// Work shared between threads. Threads split the output, never a sum, so their number changes no bit.
#pragma once

#include <cstdint>

namespace headway {

// THREADS from the environment, else the number of processors; always 1 in the debug build.
// Throws ValueError for a THREADS that is not a whole number from 1 to 32.
int thread_count();
void set_thread_count(int count);  // ValueError outside 1 .. 32

constexpr int64_t elements_per_thread = 4096;  // fewer numbers are not worth waking a thread for

// Calls task(context, from, to) for equal parts of 0 .. count-1, at most one a thread and none shorter than
// `grain` (but for a single part). Returns when all are done; the first error that a part threw is then
// thrown here.
void run_parallel(int64_t count, int64_t grain, void (*task)(const void*, int64_t, int64_t),
                  const void* context);

// The same for a lambda: parallel_for(rows, 64, [=](int64_t from, int64_t to) { ... });
// Each part runs its own copy of the lambda. What that captured by value is then known to change for nobody
// else, and the compiler keeps it in registers: loops over numbers capture with [=].
template <class Body>
void run_part(const void* body, int64_t from, int64_t to) {
  const Body copy = *static_cast<const Body*>(body);
  copy(from, to);
}

template <class Body>
void parallel_for(int64_t count, int64_t grain, const Body& body) {
  if (count >= 2 * grain)
    run_parallel(count, grain, run_part<Body>, &body);
  else if (count > 0)
    run_part<Body>(&body, 0, count);  // not worth a second thread
}

}  // namespace headway

// The thread pool behind core/parallel.h. A worker that has nothing to do first spins for some microseconds,
// since the next piece of a training step usually comes that soon, and only then sleeps.
#include <algorithm>
#include <atomic>
#include <bit>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "core/settings.h"

namespace headway {

namespace {

void pause_a_moment() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

constexpr int most_threads = 32;  // one bit of an offer for each part

struct Job {
  void (*task)(const void*, int64_t, int64_t);
  const void* context;
  int64_t count;
  int parts;

  void run(int p) const { task(context, count * p / parts, count * (p + 1) / parts); }
};

thread_local bool inside_a_part = false;  // a part that calls parallel_for does that work by itself

// Waits until `value` is no longer `old`: spins first, since work comes in quick succession, then sleeps.
template <class T>
void wait_while(const std::atomic<T>& value, T old) {
  for (int spin = 0; spin < 5000; spin++) {
    if (value.load() != old) return;
    pause_a_moment();
  }
  value.wait(old);
}

// Thread i takes part i, whose numbers then lie in its own cache from op to op; whoever is done early takes
// what is left. So a worker that the system has not woken yet holds up nobody, and a busy machine costs speed
// but never a wait.
class Workers {
public:
  explicit Workers(int count) {
    for (int i = 1; i < count; i++) threads_.emplace_back([this, i] { work(i); });
  }

  ~Workers() {
    make_offer(stop);
    for (std::thread& t : threads_) t.join();
  }

  int count() const { return int(threads_.size()) + 1; }

  void run(const Job& job) {
    job_ = job;  // nobody reads the old one: all its parts are finished
    unfinished_.store(job.parts);
    const uint64_t number = ((offer_.load() >> 32) + 1) % (stop >> 32);  // never that of stop
    make_offer(number << 32 | ((uint64_t(1) << job.parts) - 1));
    inside_a_part = true;
    for (int part = take(0); part >= 0; part = take(0)) run_part(part);
    inside_a_part = false;
    for (int left = unfinished_.load(); left > 0; left = unfinished_.load()) wait_while(unfinished_, left);
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

private:
  // offer_: the number of the job in the upper half, one bit for each part not taken yet in the lower.
  static uint32_t open_parts(uint64_t offer) { return uint32_t(offer); }

  // No job, no part: the workers go home. It is an offer like others, so that none of them can miss it.
  static constexpr uint64_t stop = uint64_t(0xffffffff) << 32;

  void make_offer(uint64_t offer) {
    offer_.store(offer);
    offer_.notify_all();
  }

  // A part that is now ours, `own` if it is still there, or -1 if none is left. Only then may job_ be read.
  int take(int own) {
    uint64_t seen = offer_.load();
    while (open_parts(seen) != 0) {
      const int part = open_parts(seen) >> own & 1 ? own : std::countr_zero(open_parts(seen));
      if (offer_.compare_exchange_weak(seen, seen & ~(uint64_t(1) << part))) return part;
    }
    return -1;
  }

  // An error in a part waits until all parts are done, and is then thrown where the job was asked for.
  void run_part(int part) {
    try {
      job_.run(part);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(error_mutex_);
      if (!error_) error_ = std::current_exception();
    }
    if (unfinished_.fetch_sub(1) == 1) unfinished_.notify_one();
  }

  void work(int own) {
    inside_a_part = true;
    for (uint64_t seen = offer_.load(); seen != stop; seen = offer_.load()) {
      if (open_parts(seen) == 0)
        wait_while(offer_, seen);
      else if (const int part = take(own); part >= 0)
        run_part(part);
    }
  }

  std::vector<std::thread> threads_;
  // Each on a cache line of its own: a worker that spins on offer_ must not hold up who writes the others.
  alignas(64) std::atomic<uint64_t> offer_{0};
  alignas(64) std::atomic<int> unfinished_{0};
  alignas(64) Job job_ = {};
  std::mutex error_mutex_;
  std::exception_ptr error_;  // the first of this job
};

int threads_asked_for() {
#ifdef HEADWAY_DEBUG
  return 1;  // a debugger follows one thread
#else
  const int processors = std::clamp(int(std::thread::hardware_concurrency()), 1, most_threads);
  return Setting{"THREADS", processors, 1, most_threads}.value();
#endif
}

Workers*& workers() {
  static Workers* pool = new Workers(threads_asked_for());
  return pool;
}

}  // namespace

int thread_count() { return workers()->count(); }

void set_thread_count(int count) {
  if (count < 1 || count > most_threads) {
    throw ValueError(Message(text("set_thread_count: ", count, " is no number of threads"))
                         .rule(text("it is a whole number from 1 to ", most_threads)));
  }
  delete workers();
  workers() = new Workers(count);
}

void run_parallel(int64_t count, int64_t grain, void (*task)(const void*, int64_t, int64_t),
                  const void* context) {
  Job job = {task, context, count, 1};
  if (!inside_a_part) job.parts = int(std::clamp<int64_t>(count / grain, 1, thread_count()));
  if (job.parts <= 1)
    job.run(0);
  else
    workers()->run(job);
}

}  // namespace headway

// The thread pool: every number once, whatever the counts; jobs inside jobs; THREADS.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "catch.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/tensor.h"
#include "threads.h"

#ifdef __linux__
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
extern char** environ;
#endif

using namespace headway;

namespace {

// How often each of 0 .. count-1 was touched; `worth_it` stays true while no part is shorter than the grain.
std::vector<int> touched(int64_t count, int64_t grain, bool& worth_it) {
  std::vector<std::atomic<int>> times(static_cast<size_t>(count));
  std::atomic<bool> long_enough = true;
  parallel_for(count, grain, [&](int64_t from, int64_t to) {
    if (from >= to || (to - from < grain && to - from < count)) long_enough = false;
    for (int64_t i = from; i < to; i++) times[size_t(i)]++;
  });
  worth_it = long_enough;
  return std::vector<int>(times.begin(), times.end());
}

}  // namespace

TEST_CASE("parallel_for touches each number once, in parts of a grain at least") {
  const Threads restore;
  for (int threads : {1, 2, 3, 5}) {
    set_thread_count(threads);
    CHECK(thread_count() == threads);
    for (int64_t count : {0, 1, 2, 3, 5, 63, 64, 65, 128, 1000}) {
      for (int64_t grain : {1, 2, 7, 63, 64, 65, 5000}) {
        bool worth_it = false;
        const std::vector<int> times = touched(count, grain, worth_it);
        CAPTURE(threads, count, grain);
        REQUIRE(worth_it);
        REQUIRE(times == std::vector<int>(size_t(count), 1));
      }
    }
  }
}

TEST_CASE("a job of many grains is shared by all threads, and a job of one grain stays where it is") {
  const Threads restore;
  for (int threads : {1, 2, 3, 5}) {
    set_thread_count(threads);
    std::vector<std::thread::id> who(1000);
    std::atomic<int> begun = 0;
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    parallel_for(1000, 1, [&](int64_t from, int64_t to) {
      begun++;  // no part ends before all have begun, so that no thread can do two
      while (begun < threads && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
      for (int64_t i = from; i < to; i++) who[size_t(i)] = std::this_thread::get_id();
    });
    CHECK(begun == threads);
    CHECK(int(std::set<std::thread::id>(who.begin(), who.end()).size()) == threads);
    parallel_for(1000, 1000, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; i++) who[size_t(i)] = std::this_thread::get_id();
    });
    CHECK(std::set<std::thread::id>(who.begin(), who.end()) ==
          std::set<std::thread::id>{std::this_thread::get_id()});
  }
}

TEST_CASE("a part may call parallel_for itself: it then does that work alone") {
  const Threads restore;
  for (int threads : {1, 2, 3, 5}) {
    set_thread_count(threads);
    std::vector<int> times(20 * 30, 0);
    std::atomic<bool> alone = true;
    parallel_for(20, 1, [&](int64_t from, int64_t to) {
      const std::thread::id outer = std::this_thread::get_id();
      for (int64_t i = from; i < to; i++) {
        parallel_for(30, 1, [&](int64_t inner_from, int64_t inner_to) {
          if (threads > 1 && std::this_thread::get_id() != outer) alone = false;
          for (int64_t j = inner_from; j < inner_to; j++) times[size_t(i * 30 + j)]++;
        });
      }
    });
    CHECK(alone);
    CHECK(times == std::vector<int>(20 * 30, 1));
  }
}

TEST_CASE("many small jobs in a row, with pauses that let the workers sleep, are all done") {
  const Threads restore;
  set_thread_count(3);
  std::vector<int> times(30, 0);
  for (int job = 0; job < 2000; job++) {
    parallel_for(30, 1, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; i++) times[size_t(i)]++;
    });
    if (job % 400 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
  CHECK(times == std::vector<int>(30, 2000));
}

TEST_CASE("workers that are sent home right after a job do nothing more, and all of them go") {
  const Threads restore;
  for (int round = 0; round < 300; round++) {
    set_thread_count(2 + round % 4);
    std::vector<std::atomic<int>> times(8);
    parallel_for(8, 1, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; i++) times[size_t(i)]++;
    });
    set_thread_count(1);
    for (const std::atomic<int>& t : times) REQUIRE(t == 1);
  }
}

TEST_CASE("an error in any part ends the job and is thrown where it was asked for") {
  const Threads before;
  set_thread_count(3);
  for (const int64_t where : {0, 1, 2, 3}) {  // the part that fails; in 3 all do
    std::atomic<int> parts = 0;
    std::string message;
    try {
      parallel_for(3, 1, [&](int64_t from, int64_t) {
        parts++;
        if (from == where || where == 3) (void)Tensor::uncleared({int64_t(1) << 39});
      });
    } catch (const std::exception& error) { message = error.what(); }
    CHECK(message.find("there is no memory for 549755813888 numbers") == 0);
    CHECK(parts == 3);
    bool worth_it = true;  // and the next job goes as if nothing had been
    for (const int times : touched(1000, 10, worth_it)) REQUIRE(times == 1);
  }
}

TEST_CASE("set_thread_count takes what THREADS takes") {
  for (const int count : {0, -1, 33}) {
    CHECK(message_of<ValueError>([&] { set_thread_count(count); }) ==
          text("set_thread_count: ", count, " is no number of threads\n",
               "  rule: it is a whole number from 1 to 32"));
  }
}

#if defined(__linux__) && !defined(HEADWAY_DEBUG)

// THREADS is read once, when the first parallel_for makes the pool. So the next test case runs alone in a
// second process: there no pool is made yet, and a refused value makes none.
TEST_CASE("in a process without a pool a bad THREADS is refused", "[.][threads-child]") {
  for (const char* wish : {"0", "-1", "33", "two", "2x", "1.5", "99999999999999999999"}) {
    setenv("THREADS", wish, 1);
    std::string message;
    try {
      thread_count();
    } catch (const ValueError& error) { message = error.what(); }
    const std::string expected = text("THREADS is '", wish,
                                      "', which does not do here\n"
                                      "  rule: THREADS is a whole number from 1 to 32\n"
                                      "  hint: leave it out for ");
    CHECK(message.substr(0, expected.size()) == expected);  // then this machine's processors
  }
  setenv("THREADS", "3", 1);
  CHECK(thread_count() == 3);
  setenv("THREADS", "5", 1);
  CHECK(thread_count() == 3);  // the pool is made
}

TEST_CASE("a bad THREADS is refused by name") {
  std::string program = "tests", tag = "[threads-child]";
  char* arguments[] = {program.data(), tag.data(), nullptr};
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = posix_spawn(&child, "/proc/self/exe", &quiet, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&quiet);
  if (failed != 0) {
    WARN("not tried: this machine does not start a test program a second time");
    return;
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  INFO("to see what is wrong, run the test program with the argument [threads-child]");
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

#endif

// The main() of an exercise program, which holds the learner's code and nothing of its check: it answers what
// the judge asks. Requests come on file 3 and answers go to file 4, so that the learner may read and print at
// will.
#include <sanitizer/common_interface_defs.h>

#include <cstdio>

#include "course/candidate.h"

#ifdef __linux__
// Linked with --wrap=__cxa_throw: the sanitizer writes down where an error is thrown, and the judge finds the
// line of the learner's file in it.
extern "C" {
[[noreturn]] void __real___cxa_throw(void* thrown, void* type, void (*destroy)(void*));
[[noreturn]] void __wrap___cxa_throw(void* thrown, void* type, void (*destroy)(void*)) {
  __sanitizer_print_stack_trace();
  __real___cxa_throw(thrown, type, destroy);
}
}
#endif

int main() {
  using namespace headway;
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);  // what was printed before a crash is not lost
  const int an_hour = 3600;                        // the judge ends this program long before
  for (std::string request; read_message(3, request, an_hour);) {
    std::string reply;
    put(reply, answer(*candidates().front(), request));
    std::fflush(stdout);
    if (!write_message(4, reply)) return 1;
  }
}

#include "tasks/settings.h"

#include <cstdio>
#include <cstdlib>

#include "core/error.h"

namespace headway {

int setting(const char* name, int fallback, int least, int most) {
  const char* wish = std::getenv(name);
  if (!wish || !*wish) return fallback;
  char* end = nullptr;
  const long value = std::strtol(wish, &end, 10);
  if (*end || value < least || value > most) {
    throw ValueError(Message(text(name, " is '", wish, "', which does not do here"))
                         .rule(text(name, " is a whole number from ", least, " to ", most))
                         .hint(text("leave it out for ", fallback)));
  }
  return int(value);
}

void warn_if_slow() {
#if !defined(__FMA__) && !defined(__aarch64__)
  static bool said = false;
  if (!said) {
    std::fputs(
        "note: this build has no fused multiply-add in hardware. The numbers will be the same, but training takes\n"
        "      minutes; STEPS=50 makes it short (and its figures other than those in the README).\n",
        stderr);
  }
  said = true;
#endif
}

}  // namespace headway

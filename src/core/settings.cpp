#include "core/settings.h"

#include <cstdlib>

#include "core/error.h"

namespace headway {

int Setting::value() const {
  const char* wish = std::getenv(name);
  if (!wish || !*wish) return fallback;
  char* end = nullptr;
  const long number = std::strtol(wish, &end, 10);
  if (*end || number < least || number > most) {
    throw ValueError(Message(text(name, " is '", wish, "', which does not do here"))
                         .rule(text(name, " is a whole number from ", least, " to ", most))
                         .hint(text("leave it out for ", fallback)));
  }
  return int(number);
}

}  // namespace headway

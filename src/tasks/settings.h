// What a reader may set from outside: make 10 SEED=7 STEPS=100
#pragma once

#include <string>

namespace headway {

// The whole number in environment variable `name`, or `fallback` where it is not set. ValueError, naming the
// variable, for anything else than a number from `least` to `most`.
int setting(const char* name, int fallback, int least, int most);

// Says on standard error, once, if this machine multiplies and adds without hardware support, which makes
// training a hundred times slower.
void warn_if_slow();

}  // namespace headway

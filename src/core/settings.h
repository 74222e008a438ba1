// What a user may set from outside: make 10 SEED=7 STEPS=100 THREADS=1
#pragma once

namespace headway {

struct Setting {
  const char* name;  // of the environment variable
  int fallback;      // where that is not set
  int least, most;

  // The whole number in the environment. ValueError, naming the variable, for anything else than a number
  // from `least` to `most`.
  int value() const;
};

}  // namespace headway

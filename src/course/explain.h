// What the compiler and the linker said of the learner's exercise, for the learner.
#pragma once

#include <string>

namespace headway {

bool build_failed(const std::string& log);

// At most a screen of what they said. If they failed also what that means: for a function that is not linked
// on purpose, why; for an error behind the region, what may be wrong inside.
std::string explain_build(const std::string& log);

}  // namespace headway

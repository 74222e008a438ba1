// What to say when the learner's exercise does not compile or link.
#pragma once

#include <string>

namespace headway {

// At most a screen of what compiler and linker said, and for a function that is not linked on purpose, why.
std::string explain_build(const std::string& log);

}  // namespace headway

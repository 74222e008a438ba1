// The proof that a check is worth something; for whoever writes an exercise, and for `make test`.
#pragma once

#include <string>

namespace headway {

// Prints whether the solution passes every test, the stub fails every test, and each mistake fails and gets
// its own diagnosis, and is told apart from every other one. 0: all true.
int prove(const std::string& lesson, const std::string& judge, const std::string& table);

}  // namespace headway

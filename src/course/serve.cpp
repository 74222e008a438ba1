// The main() of an exercise program, which holds the learner's code and nothing of its check: it answers what
// the judge asks. Requests come on file 3 and answers go to file 4, so that the learner may read and print at
// will.
#include "course/candidate.h"

int main() {
  using namespace headway;
  const int an_hour = 3600;  // the judge ends this program long before
  for (std::string request; read_message(3, request, an_hour);) {
    std::string reply;
    put(reply, answer(*candidates().front(), request));
    if (!write_message(4, reply)) return 1;
  }
}

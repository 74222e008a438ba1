// How long a newcomer waits: for the compiler, and for the lessons. Once each, not in pairs: there is no
// peer.
#include <cstdlib>
#include <filesystem>

#include "bench/bench.h"

namespace headway::bench {

namespace {

// make as somebody types it, with all processors: not as a part of the make that runs this program.
std::string make(const std::string& arguments) {
  return "env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s " + arguments + " 2>&1";
}

// What make says, and how long it takes: no time if it fails.
struct Made {
  std::string printed;
  double seconds;
};
Made timed(const std::string& arguments) {
  const double began = now();
  const std::string printed = run(make(arguments), On::all_processors);
  return {printed, printed.empty() ? none : now() - began};
}

}  // namespace

void build_group(Report& report, int) {
  const std::string out = "build/bench-build", lesson = "lessons/10-many-heads/lesson";
  const std::string one = text("OUT=", out, ' ', out, '/', lesson);
  std::filesystem::remove_all(out);
  report.working("clean build of lesson 10", 0);
  report.add("clean build of `make 10`, s", Better::less, {60, 30}, {timed(one).seconds});
  report.working("build of lesson 10 after a change", 0.4);
  const std::string changed = text("-W ", lesson, ".cpp ", one);  // as if the file had just been saved
  report.add("build of `make 10` after a change of the lesson, s", Better::less, {8, 4},
             {timed(changed).seconds});

  report.working("all lessons: building", 0.45);
  timed(text("OUT=", out, ' ', out, "/same_pictures $(for l in lessons/[0-9]*; do echo ", out,
             "/$l/lesson; done)"));
  report.working("all lessons: running", 0.6);
  const Made lessons = timed(text("OUT=", out, " lessons"));
  const size_t at = lessons.printed.find("lessons: ");
  const int count = at == std::string::npos ? 0 : std::atoi(lessons.printed.c_str() + at + 9);
  report.add(text("`make lessons`, the ", count, " that exist, built before, s"), Better::less, {},
             {lessons.seconds});
  if (count < 22)
    report.missing(text("`make lessons` has a target for 22 lessons (65 s), but there are ", count));
  std::filesystem::remove_all(out);
}

}  // namespace headway::bench

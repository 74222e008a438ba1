// make bench [ONLY=group] [PAIRS=n]: runs the groups and prints the report. With arguments: one of the
// children.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "bench/bench.h"
#include "core/settings.h"

namespace headway::bench {

namespace {

struct Group {
  const char* name;
  void (*measure)(Report& report, int pairs);
  double fixed, per_pair;  // seconds it takes about, for the first guess of the time left
};
constexpr Group groups[] = {{"step", step_group, 2, 55},     {"gemm", gemm_group, 2, 4},
                            {"decode", decode_group, 0, 12}, {"rows", rows_group, 0, 6},
                            {"build", build_group, 75, 0},   {"profile", profile_group, 25, 0},
                            {"growth", growth_group, 15, 0}};

// ONLY may be the beginning of a name; without it all are wanted.
std::vector<Group> wanted_groups() {
  const char* only = std::getenv("ONLY");
  const std::string wish = only ? only : "";
  std::vector<Group> wanted;
  std::string names;
  for (const Group& g : groups) {
    if (std::string(g.name).substr(0, wish.size()) == wish) wanted.push_back(g);
    names += text(names.empty() ? "" : ", ", g.name);
  }
  if (wanted.empty()) {
    throw ValueError(Message(text("ONLY is '", wish, "', which is no group of measurements"))
                         .rule(text("ONLY is one of ", names, ", or the beginning of one"))
                         .hint("leave it out to measure everything"));
  }
  return wanted;
}

int measure_all() {
  const std::vector<Group> wanted = wanted_groups();
  const int pairs = Setting{"PAIRS", 5, 1, 100}.value();
  stay(On::one_processor);
  Report report;
  double seconds = 0;
  for (const Group& g : wanted) seconds += g.fixed + g.per_pair * pairs;
  report.expect(seconds);
  for (const Group& g : wanted) {
    report.begin_group(g.fixed + g.per_pair * pairs);
    g.measure(report, pairs);
  }
  report.print();
  report.write_json("build/bench.json");
  std::puts("\nThe same for programs: build/bench.json. What the figures mean: tests/bench/README.md");
  return 0;
}

int dispatch(const std::vector<std::string>& words) {
  const std::string what = words.empty() ? "" : words[0];
  if (words.empty()) return measure_all();
  if (what == "step" && words.size() == 4)
    return step_child(words[1], std::atoi(words[2].c_str()), std::atoi(words[3].c_str()));
  if (what == "decode" && words.size() == 3) return decode_child(words[1], std::atoi(words[2].c_str()));
  if (what == "profile" && words.size() == 2) return profile_child(words[1]);
  if (what == "rows" && words.size() == 1) return rows_child();
  if (what == "growth" && words.size() == 1) return growth_child();
  throw ValueError(
      Message(text("bench: no such measurement: ", what))
          .rule("step CONFIG THREADS STEPS, decode CONFIG THREADS, rows, profile CONFIG or growth")
          .hint("make bench runs them all"));
}

}  // namespace

}  // namespace headway::bench

int main(int argc, char** argv) {
  setenv("BENCH_SELF", argv[0], 1);  // for the children
  try {
    return headway::bench::dispatch({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\nnext: make bench\n", error.what());
    return 2;
  }
}

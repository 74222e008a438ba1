// Running other programs on chosen processors, and reading what they print.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#ifdef __linux__
#include <sched.h>
#endif

#include "bench/bench.h"
#include "core/print.h"

namespace headway::bench {

#ifdef __linux__
namespace {

// The processors this program was started on.
const cpu_set_t& allowed() {
  static const cpu_set_t set = [] {
    cpu_set_t s;
    CPU_ZERO(&s);
    sched_getaffinity(0, sizeof s, &s);
    return s;
  }();
  return set;
}

}  // namespace

void stay(On on) {
  cpu_set_t wanted = allowed();
  if (on == On::one_processor) {
    int first = 0;
    while (!CPU_ISSET(first, &wanted)) first++;
    CPU_ZERO(&wanted);
    CPU_SET(first, &wanted);
  }
  sched_setaffinity(0, sizeof wanted, &wanted);
}
#else
void stay(On) {}  // elsewhere the system chooses
#endif

int processors() {
#ifdef __linux__
  return CPU_COUNT(&allowed());
#else
  return 2;
#endif
}

std::string run(const std::string& command, On on) {
  stay(on);
  std::string printed;
  FILE* out = popen(command.c_str(), "r");
  if (out) {
    for (int c = fgetc(out); c != EOF; c = fgetc(out)) printed += char(c);
  }
  const bool failed = !out || pclose(out) != 0;
  stay(On::one_processor);
  return failed ? "" : printed;
}

std::string own_child(const std::string& arguments) { return "\"$BENCH_SELF\" " + arguments; }

namespace {
std::vector<std::string> lines_of(const std::string& printed) {
  std::vector<std::string> lines(1);
  for (char c : printed) {
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  }
  lines.pop_back();  // what follows the last line end
  return lines;
}

std::string spaced(std::string words) {
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

// What stands behind "name=".
std::string name_of(const std::string& line) {
  const std::string first = line.substr(0, line.find(' '));
  return spaced(first.substr(std::min(first.size(), std::string("name=").size())));
}
}  // namespace

double field(const std::string& line, const std::string& name) {
  const size_t at = (" " + line).find(" " + name + "=");
  return at == std::string::npos ? none : std::strtod(line.c_str() + at + name.size() + 1, nullptr);
}

void compare_lines(Report& report, int pairs, const std::string& ours, const std::string& theirs,
                   const std::string& unit, const std::vector<NamedGoal>& goals) {
  std::vector<std::string> names;
  std::vector<std::vector<double>> our_times, their_times;  // [line][pair]
  for (int i = 0; i < pairs; i++) {
    report.working(text(goals[0].begins, " and others, pair ", i + 1, " of ", pairs), double(i) / pairs);
    const std::vector<std::string> here = lines_of(run(ours)), there = lines_of(run(theirs));
    if (i == 0) names.resize(here.size()), our_times.resize(here.size()), their_times.resize(here.size());
    for (size_t k = 0; k < std::min({names.size(), here.size(), there.size()}); k++) {
      names[k] = name_of(here[k]);
      our_times[k].push_back(field(here[k], unit));
      their_times[k].push_back(name_of(there[k]) == names[k] ? field(there[k], unit) : none);
    }
  }
  for (size_t k = 0; k < names.size(); k++) {
    Goal goal;
    for (const NamedGoal& g : goals) {
      if (names[k].find(g.begins) == 0) goal = g.goal;
    }
    report.add(
        names[k] + " / PyTorch", Better::less, goal, ratios(our_times[k], their_times[k]),
        text(number(median(our_times[k]), 3), "; ", number(median(their_times[k]), 3), ' ', spaced(unit)));
  }
}

}  // namespace headway::bench

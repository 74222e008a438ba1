// Headway measured beside its peers: `make bench`. README.md says how to read the figures.
//
// A figure is the median of pairs: ours and theirs run by turns in the same minutes, since the speed of a
// shared machine drifts. What has memory or threads of its own runs as a child process, which prints lines
// such as
//   name=headway ms_per_step=27.1 min_ms=26.2 peak_rss_mb=41.3 loss=4.2105
#pragma once

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "nn/transformer.h"

namespace headway::bench {

static_assert(std::is_same_v<Scalar, float>, "make bench measures the float build");

// ---- what is measured (measure.cpp). V vocabulary, T tokens, d width, h heads, L layers, B batch; an MLP of
// 4 d.
struct Config {
  const char* name;
  int64_t V, T, d, h, L, B;
};
constexpr Config configs[] = {
    {"tiny", 32, 16, 32, 4, 1, 32}, {"small", 64, 64, 64, 4, 2, 32}, {"medium", 65, 256, 384, 6, 6, 8}};

const Config& config_named(const std::string& name);  // ValueError for any other
Transformer make_model(const Config& c, int64_t context);
std::vector<int> random_tokens(const Config& c, int64_t count, uint64_t seed);
double step_flops(const Config& c);  // operations of one training step
double fma_peak();                   // GFLOP/s of one thread that only multiplies and adds

struct StepTimes {
  double median_ms, best_ms, loss;
};
StepTimes train(const Config& c, int steps);  // after steps / 10 + 1 that are not timed

// A scalar from which backward gives every number of y the gradient 1, at the least cost.
Tensor drive(const Tensor& y);

// ---- the clock
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Seconds of one call, over `calls` in a row.
template <class Body>
double burst(int calls, const Body& body) {
  const double began = now();
  for (int i = 0; i < calls; i++) body();
  return (now() - began) / calls;
}

// How many calls take about 2 ms: short enough to fall between two interruptions, long enough for the clock.
template <class Body>
int calls_per_burst(const Body& body) {
  body();
  return 1 + int(0.002 / burst(1, body));
}

// Seconds of one call: the best of some bursts.
template <class Body>
double best_seconds(const Body& body, int bursts = 8) {
  const int calls = calls_per_burst(body);
  double best = burst(calls, body);
  for (int i = 1; i < bursts; i++) best = std::min(best, burst(calls, body));
  return best;
}

// ---- the report (report.cpp)
constexpr double none = std::numeric_limits<double>::quiet_NaN();
enum class Better { less, more };
struct Goal {  // what the project asks of itself: at least `floor`, better `target`
  double floor = none, target = none;
};

std::vector<double> ratios(const std::vector<double>& ours, const std::vector<double>& theirs);
double median(std::vector<double> values);  // of those that are numbers

class Report {
public:
  // One row: its value in every pair, and in `figures`, in plain units, what was divided by what.
  void add(const std::string& name, Better better, Goal goal, std::vector<double> pairs,
           const std::string& figures = "");
  void missing(const std::string& what);
  void page(const std::string& markdown) { pages_ += markdown + "\n"; }
  bool have_torch();  // says so if it is missing

  // Says what is done now, and the time left: on a terminal all the time, elsewhere once for each group.
  // `share` of the current group is done.
  void expect(double seconds) { expected_ = seconds; }
  void begin_group(double seconds) { done_ += group_, group_ = seconds, said_ = false; }
  void working(const std::string& what, double share);

  void print() const;
  void write_json(const char* path) const;

private:
  struct Row {
    std::string name;
    Better better;
    Goal goal;
    std::vector<double> pairs;
    std::string figures;
  };
  std::vector<Row> rows_;
  std::vector<std::string> missing_;
  std::string pages_;
  int torch_ = -1;  // not yet asked
  bool said_ = false;
  double expected_ = 0, done_ = 0, group_ = 0, began_ = now();
};

// ---- other programs (process.cpp)
enum class On { one_processor, all_processors };
void stay(On on);  // this program, and the children it starts from now on
int processors();
std::string run(const std::string& command, On on = On::one_processor);  // what it prints, or "" if it fails
std::string own_child(const std::string& arguments);             // a command: this program in another mode
double field(const std::string& line, const std::string& name);  // the number behind "name="

// Runs both by turns. Each prints the same lines, name=... unit=...; a line becomes a row, with the goal of
// its name.
struct NamedGoal {
  const char* begins;
  Goal goal;
};
void compare_lines(Report& report, int pairs, const std::string& ours, const std::string& theirs,
                   const std::string& unit, const std::vector<NamedGoal>& goals);

// ---- the groups of measurements, and their children
void step_group(Report& report, int pairs);
void gemm_group(Report& report, int pairs);
void decode_group(Report& report, int pairs);
void rows_group(Report& report, int pairs);
void build_group(Report& report, int pairs);
void profile_group(Report& report, int pairs);
void growth_group(Report& report, int pairs);
int step_child(const std::string& config, int threads, int steps);
int decode_child(const std::string& config, int threads);
int rows_child();
int profile_child(const std::string& config);
int growth_child();

}  // namespace headway::bench

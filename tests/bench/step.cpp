// The training step: ours with one thread and with two, and PyTorch's, by turns.
#include <sys/resource.h>

#include <cstdio>

#include "bench/bench.h"
#include "core/parallel.h"
#include "core/print.h"

namespace headway::bench {

int step_child(const std::string& config, int threads, int steps) {
  set_thread_count(threads);
  const StepTimes t = train(config_named(config), steps);
  rusage use = {};
  getrusage(RUSAGE_SELF, &use);
#ifdef __APPLE__
  const double unit = 1 << 20;  // it counts bytes
#else
  const double unit = 1 << 10;  // it counts kilobytes
#endif
  std::printf("name=headway ms_per_step=%.4f min_ms=%.4f peak_rss_mb=%.1f loss=%.4f\n", t.median_ms,
              t.best_ms, double(use.ru_maxrss) / unit, t.loss);
  return 0;
}

namespace {

constexpr const char* openmp_blas = "/usr/lib/x86_64-linux-gnu/openblas-openmp";
constexpr double llm_c_peak = 100.8;  // GFLOP/s of the machine on which llm.c took llm_c_ms at best

struct Asked {  // what is asked of one config
  int steps;
  double share;  // of the time of this group
  Goal torch, llm_c, peak, two_threads, memory;
  double llm_c_ms;
};
constexpr Asked asked_of[] = {
    {200, 0.07, {0.35, 0.25}, {0.40, 0.33}, {30, 40}, {1.2, 1.5}, {15, 8}, 3.33},
    {20, 0.08, {0.75, 0.60}, {0.33, 0.25}, {45, 55}, {1.5, 1.7}, {70, 45}, 109},
    {2, 0.85, {1.00, 0.90}, {0.30, 0.23}, {62, 68}, {1.5, 1.7}, {900, 650}, 8991},
};

// The lines of one program, round after round. No lines: it was not there.
using Lines = std::vector<std::string>;
std::vector<double> all(const Lines& lines, const char* name) {
  std::vector<double> values;
  for (const std::string& line : lines) values.push_back(field(line, name));
  return values;
}

struct Rounds {
  Lines ours, ours_2, torch, torch_2, libtorch;
  std::vector<double> peak;  // GFLOP/s
};

// One round: every program once. PyTorch counts with the faster of its two forms where both are worth trying.
Rounds run_rounds(Report& report, const Config& c, const Asked& asked, int pairs, double share_before) {
  const bool medium = c.L > 2, two = processors() > 1, torch = report.have_torch();
  const bool libtorch =
      !run("test -x build/libtorch_step && echo yes").empty();  // medium is the same without Python
  const bool torch_2 = two && medium && torch && !run(text("test -d ", openmp_blas, " && echo yes")).empty();
  const std::string script = text("/usr/bin/python3 tests/bench/torch_step.py ", c.name);
  Rounds rounds;
  for (int i = 0; i < pairs; i++) {
    report.working(text("training step, ", c.name, ", round ", i + 1, " of ", pairs),
                   share_before + asked.share * i / pairs);
    const std::string one = text(" 1 ", asked.steps), both = text(" 2 ", asked.steps);
    std::string form = " composed";
    if (torch) {
      std::string best = run(script + one + form);
      const std::string other = medium ? run(script + one + " mha") : "";
      if (field(other, "ms_per_step") < field(best, "ms_per_step")) best = other, form = " mha";
      rounds.torch.push_back(best);
    }
    rounds.peak.push_back(fma_peak());
    rounds.ours.push_back(run(own_child(text("step ", c.name, one))));
    if (two) rounds.ours_2.push_back(run(own_child(text("step ", c.name, both)), On::all_processors));
    if (torch_2) {
      const std::string bound =
          text("LD_LIBRARY_PATH=", openmp_blas, " OMP_PROC_BIND=true OMP_PLACES=cores ");
      rounds.torch_2.push_back(run(bound + script + both + form, On::all_processors));
    }
    if (libtorch && !medium) rounds.libtorch.push_back(run(text("build/libtorch_step ", c.name, one)));
  }
  if (!two) report.missing("everything with 2 threads: there is one processor");
  if (!libtorch) report.missing("libtorch: apt-get install libtorch-dev");
  if (two && medium && torch && !torch_2)
    report.missing(
        "PyTorch with 2 threads: apt-get install libopenblas0-openmp (the threads of its default BLAS and "
        "its own stand in each other's way)");
  return rounds;
}

void add_ratio(Report& report, const std::string& name, Better better, Goal goal, const Lines& a,
               const Lines& b) {
  if (a.empty() || b.empty()) return;
  const std::vector<double> over = all(a, "ms_per_step"), under = all(b, "ms_per_step");
  report.add(name, better, goal, ratios(over, under),
             text(number(median(over), 2), "; ", number(median(under), 2), " ms"));
}

void add_rows(Report& report, const Config& c, const Asked& asked, const Rounds& r) {
  const std::string step = text("training step, ", c.name);
  add_ratio(report, step + ", 1 thread / PyTorch", Better::less, asked.torch, r.ours, r.torch);
  add_ratio(report, step + ", 1 thread / libtorch", Better::less, {}, r.ours, r.libtorch);
  const std::vector<double> best = all(r.ours, "min_ms");
  std::vector<double> to_llm_c, share;
  for (size_t i = 0; i < best.size(); i++) {
    to_llm_c.push_back(best[i] / (asked.llm_c_ms * llm_c_peak / r.peak[i]));
    share.push_back(100 * step_flops(c) / (best[i] * 1e-3) / (r.peak[i] * 1e9));
  }
  report.add(step + ", best / llm.c (a figure, not run here)", Better::less, asked.llm_c, to_llm_c,
             text(number(median(best), 2), "; ", number(asked.llm_c_ms, 2), " ms at 100.8 GFLOP/s"));
  report.add(step + ", best, share of FMA peak, %", Better::more, asked.peak, share,
             text(number(step_flops(c) * 1e-9, 3), " GFLOP in ", number(median(best), 2), " ms"));
  add_ratio(report, step + ", speed-up with 2 threads", Better::more, asked.two_threads, r.ours, r.ours_2);
  add_ratio(report, step + ", 2 threads / PyTorch, 2 threads", Better::less, {1.15, 1.0}, r.ours_2,
            r.torch_2);
  report.add(step + ", peak memory of the process, MB", Better::less, asked.memory,
             all(r.ours, "peak_rss_mb"));
}

}  // namespace

void step_group(Report& report, int pairs) {
  double share = 0;
  std::vector<double> peak;
  for (size_t i = 0; i < 3; i++) {
    const Rounds rounds = run_rounds(report, configs[i], asked_of[i], pairs, share);
    add_rows(report, configs[i], asked_of[i], rounds);
    share += asked_of[i].share;
    peak.insert(peak.end(), rounds.peak.begin(), rounds.peak.end());
  }
  report.add("FMA peak, 1 thread, GFLOP/s", Better::more, {}, peak);
}

}  // namespace headway::bench

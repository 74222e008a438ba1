// How the time of a training step grows with each of its sizes, around the small config: t = a size^e, fitted
// by least squares on logarithms, beside the same fit to the number of operations.
#include <cmath>
#include <cstdio>

#include "bench/bench.h"
#include "core/parallel.h"
#include "core/print.h"

namespace headway::bench {

namespace {

struct Series {
  const char* name;
  int64_t Config::*size;
  std::vector<int64_t> values;
};

// The slope of log y over log x.
double exponent(const std::vector<double>& x, const std::vector<double>& y) {
  const double n = double(x.size());
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (size_t i = 0; i < x.size(); i++) {
    const double u = std::log(x[i]), v = std::log(y[i]);
    sx += u, sy += v, sxx += u * u, sxy += u * v;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

}  // namespace

int growth_child() {
  set_thread_count(1);
  const Series all[] = {{"T", &Config::T, {16, 32, 64, 128, 256}},
                        {"d", &Config::d, {32, 64, 128, 256}},
                        {"h", &Config::h, {1, 2, 4, 8, 16}},
                        {"L", &Config::L, {1, 2, 3, 4, 6}}};
  for (const Series& series : all) {
    std::vector<double> sizes, ms, flops;
    std::string values, times;
    for (int64_t value : series.values) {
      Config c = config_named("small");
      c.*series.size = value;
      sizes.push_back(double(value));
      ms.push_back(train(c, 5).best_ms);
      flops.push_back(step_flops(c));
      values += text(values.empty() ? "" : ", ", value);
      times += text(times.empty() ? "" : ", ", number(ms.back(), 1));
    }
    std::printf("| %s | %s | %s | %s | %s |\n", series.name, values.c_str(), times.c_str(),
                number(exponent(sizes, ms), 2).c_str(), number(exponent(sizes, flops), 2).c_str());
  }
  return 0;
}

void growth_group(Report& report, int) {
  report.working("growth around small", 0);
  report.page(
      "| size | values | ms a step | exponent of the time | of the operations |\n| --- | --- | --- | --- | --- |\n" +
      run(own_child("growth")));
}

}  // namespace headway::bench

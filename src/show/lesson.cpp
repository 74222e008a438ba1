#include "show/lesson.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "core/print.h"
#include "show/pause.h"

namespace headway {

int run_lesson(void (*lesson)()) {
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);  // a line appears when it is complete, also through a pipe
  try {
    lesson();
    return 0;
  } catch (const Quit&) { return 0; } catch (const std::exception& error) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

void step(const char* title) {
  static int number_of_step = 0;
  number_of_step++;
  std::printf("%s%d. %s\n", number_of_step > 1 ? "\n" : "", number_of_step, title);
  wait_for_keys();
}

void print_refusal(const std::exception& error) {
  std::printf("  refused: ");
  for (const char* c = error.what(); *c; c++) std::printf(*c == '\n' ? "\n  " : "%c", *c);
  std::printf("\n");
}

std::string moved_rows(const Tensor& before, const Tensor& after, int64_t b) {
  expect_shape(after, "after", before.shape());
  const int64_t h = before.dim(1), T = before.dim(2), d_h = before.dim(3);
  std::string out;
  for (int64_t row = 0; row < h * T; row++) {
    const int64_t start = (b * h * T + row) * d_h;
    bool same = true;
    for (int64_t j = start; j < start + d_h; j++) same = same && before.data()[j] == after.data()[j];
    out += text(row > 0 && row % T == 0 ? "   " : "", same ? '.' : '*');
  }
  return out;
}

namespace {

void refuse(const char* what, const Tensor& a, const Tensor& b, const std::string& difference) {
  throw ValueError(Message(text(what, ": ", difference))
                       .tensor("one", a.name(), a.shape())
                       .tensor("other", b.name(), b.shape())
                       .rule("the two must agree for the lesson to be true"));
}

}  // namespace

void expect_same_bits(const char* what, const Tensor& a, const Tensor& b) {
  expect_shape(b, what, a.shape());
  if (std::memcmp(a.data(), b.data(), size_t(a.size()) * sizeof(Scalar)) != 0) {
    refuse(what, a, b, "the numbers differ in some bit");
  }
  std::printf("  same bits: %s\n", what);
}

void expect_close(const char* what, const Tensor& a, const Tensor& b, double tolerance) {
  expect_shape(b, what, a.shape());
  double largest = 0;
  for (int64_t i = 0; i < a.size(); i++) {
    const double difference = std::abs(double(a.data()[i]) - double(b.data()[i]));
    if (!(difference <= largest)) largest = difference;
  }
  if (!(largest <= tolerance)) refuse(what, a, b, text("the largest difference is ", largest));
  std::printf("  agree: %s (largest difference %s)\n", what, number(largest, 7).c_str());
}

void print_seeds(int first_seed, const std::vector<std::string>& columns,
                 const std::vector<std::vector<double>>& values, int decimals) {
  const auto line = [&](const std::string& label, const std::vector<std::string>& cells) {
    std::printf("  %-9s", label.c_str());
    for (size_t c = 0; c < cells.size(); c++) {
      std::printf(" %s", padded(cells[c], int(std::max<size_t>(8, columns[c].size()))).c_str());
    }
    std::printf("\n");
  };
  line("seed", columns);
  for (size_t i = 0; i < values.size(); i++) {
    std::vector<std::string> cells;
    for (double v : values[i]) cells.push_back(number(v, decimals));
    line(std::to_string(first_seed + int(i)), cells);
  }
  std::vector<std::string> mean, least, most;
  for (size_t c = 0; c < columns.size(); c++) {
    double total = 0, low = values[0][c], high = values[0][c];
    for (const std::vector<double>& v : values) {
      total += v[c];
      low = std::min(low, v[c]);
      high = std::max(high, v[c]);
    }
    mean.push_back(number(total / double(values.size()), decimals));
    least.push_back(number(low, decimals));
    most.push_back(number(high, decimals));
  }
  line("mean", mean);
  line("smallest", least);
  line("largest", most);
}

}  // namespace headway

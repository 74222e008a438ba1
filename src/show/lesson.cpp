#include "show/lesson.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/parallel.h"
#include "core/print.h"
#include "show/output.h"
#include "show/pause.h"

namespace headway {

namespace {

std::string running;  // lessons/06-split/lesson.cpp

// Everything that a reader may have set is looked at before the first line is printed.
void check_settings(std::initializer_list<Setting> used) {
  for (const Setting& setting : used) setting.value();
  thread_count();  // reads THREADS
  for (const char* name : {"SEED", "STEPS", "HEADS", "DATA"}) {
    const char* wish = std::getenv(name);
    const bool is_used = std::any_of(used.begin(), used.end(),
                                     [&](const Setting& setting) { return setting.name == text(name); });
    if (wish && *wish && !is_used)
      std::fprintf(stderr, "note: %s=%s is set, but not used here\n", name, wish);
  }
}

}  // namespace

int run_lesson(void (*lesson)(), std::initializer_list<Setting> settings, const char* file) {
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);  // a line appears when it is complete, also through a pipe
  running = file;
  try {
    check_settings(settings);
    lesson();
    return 0;
  } catch (const Quit&) { return 0; } catch (const std::exception& error) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

std::string lesson_file(const std::string& file) {
  const std::string folder = running.substr(0, running.rfind('/'));
  return output_file(folder.substr(folder.rfind('/') + 1), file);
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

void miss_refusal() {
  throw ValueError(
      Message("an error was due here, and none came").rule("what a lesson says is refused is refused"));
}

void print_moved(const char* what, const Tensor& before, const Tensor& after, int64_t b) {
  expect_shape(after, "after", before.shape());
  const int64_t h = before.dim(1), T = before.dim(2), d_h = before.dim(3);
  std::string out;
  for (int64_t row = 0; row < h * T; row++) {
    const int64_t start = (b * h * T + row) * d_h;
    bool same = true;
    for (int64_t j = start; j < start + d_h; j++) same = same && before.data()[j] == after.data()[j];
    out += text(row > 0 && row % T == 0 ? "   " : "", same ? '.' : '*');
  }
  std::printf("  %-20s  %s\n", what, out.c_str());
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

}  // namespace headway

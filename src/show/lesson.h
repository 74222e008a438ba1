// What every lesson.cpp is framed in: named steps, checks that print what they compared.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "core/settings.h"
#include "core/tensor.h"

namespace headway {

// The main() of a lesson or an experiment, which may be set by `settings`. A bad value of these or of THREADS
// is refused before anything is printed, and a variable that is set but not used here is named. An error is
// printed with its message and ends in status 1. `file` is the caller: lessons/06-split/lesson.cpp.
int run_lesson(void (*lesson)(), std::initializer_list<Setting> settings = {},
               const char* file = __builtin_FILE());

// "build/out/06-split/<file>" for the lesson that runs; makes the folder.
std::string lesson_file(const std::string& file);

// Begins the next step: prints a blank line, its number and its title. In step mode (pause.h) it
// then waits, before anything of the step is printed. make NN-gdb stops here and then lets step() return, so
// that gdb stands on the lesson's own line.
void step(const char* title);

// In step mode, and only there: shows a tensor, its name, shape and numbers (shades where rows are wide and
// no number is negative), and waits.
void look(const Tensor& t);

// Prints the message of the error that `call` provokes, line by line. ValueError if it provokes none.
void print_refusal(const std::exception& error);
[[noreturn]] void miss_refusal();
template <class Call>
void show_refusal(const Call& call) {
  try {
    call();
  } catch (const std::exception& error) { return print_refusal(error); }
  miss_refusal();
}

// Prints `what`, then which rows of item b differ, head by head: '*' for a row with a number that moved, '.'
// for one that stayed. Both [B, h, T, d_h]; three heads of five tokens give "..*..   ..*..   ..*..".
void print_moved(const char* what, const Tensor& before, const Tensor& after, int64_t b = 0);

// Prints that both hold the same numbers, to the last bit; throws ValueError if they do not.
void expect_same_bits(const char* what, const Tensor& a, const Tensor& b);

// Prints the largest difference; throws ValueError if it is above `tolerance`.
void expect_close(const char* what, const Tensor& a, const Tensor& b, double tolerance);

}  // namespace headway

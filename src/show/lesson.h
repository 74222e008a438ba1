// What every lesson.cpp is framed in: named steps, checks that print what they compared, tables over seeds.
#pragma once

#include <string>
#include <vector>

#include "core/tensor.h"

namespace headway {

// The main() of a lesson: runs it; an error is printed with its message and ends in status 1.
int run_lesson(void (*lesson)());

// Begins the next step: prints a blank line, its number and its title. In step mode (pause.h) it
// then waits, before anything of the step is printed. make NN-gdb stops here and then lets step() return, so
// that gdb stands on the lesson's own line.
void step(const char* title);

// In step mode, and only there: shows a tensor, its name, shape and numbers (shades where rows are wide and
// no number is negative), and waits.
void look(const Tensor& t);

// Prints the message of an error that the lesson provoked, line by line.
void print_refusal(const std::exception& error);

// Which rows of item b differ, head by head: '*' for a row with a number that moved, '.' for one that stayed.
// Both [B, h, T, d_h]; three heads of five tokens give "..*..   ..*..   ..*..".
std::string moved_rows(const Tensor& before, const Tensor& after, int64_t b);

// Prints that both hold the same numbers, to the last bit; throws ValueError if they do not.
void expect_same_bits(const char* what, const Tensor& a, const Tensor& b);

// Prints the largest difference; throws ValueError if it is above `tolerance`.
void expect_close(const char* what, const Tensor& a, const Tensor& b, double tolerance);

// One line per seed, then mean, smallest and largest. values[i] belongs to seed first_seed + i, one number a
// column.
void print_seeds(int first_seed, const std::vector<std::string>& columns,
                 const std::vector<std::vector<double>>& values, int decimals = 3);

}  // namespace headway

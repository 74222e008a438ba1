// A region for exercise 06-split that goes wrong in the way that ATTACK names: what a learner's mistake, or a
// learner who wants points for nothing, can do. tests/course.sh puts it into a copy of exercise.cpp.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

bool attack(const char* name) {
  const char* asked = std::getenv("ATTACK");
  return asked && std::string(asked) == name;
}

[[maybe_unused]] const bool ended_early = attack("exit before main") && (std::exit(0), true);

const Scalar nothing = 0;
volatile int zero = 0;

Tensor again_and_again(const Tensor& x, int64_t depth) {
  volatile char filling[1000] = {};
  return zero == 1 ? x : again_and_again(x, depth + filling[0] + 1);
}

void write_over(Scalar* numbers, int64_t i) { numbers[i] = 1; }

Tensor add_one(Tensor y) {
  for (Scalar& number : y.mutable_values()) number += 1;
  return y;
}

Tensor split(const Tensor& x, int64_t num_heads) {
  Tensor y = Tensor::zeros({1, 2, 3, 2});  // [B, h, T, d_h]
  if (attack("wild pointer")) write_over(reinterpret_cast<Scalar*>(12 + zero), 0);
  if (attack("past the end")) write_over(y.mutable_values().data(), y.size());
  if (attack("index out of range")) y.mutable_values()[size_t(y.size())] = 1;
  while (attack("endless loop")) zero = 0;
  if (attack("endless recursion")) return again_and_again(x, 0);
  if (attack("exit")) std::exit(0);
  if (attack("abort")) std::abort();
  if (attack("10 GB")) return Tensor::full({1}, std::vector<Scalar>(2500000000u)[size_t(zero)]);
  if (attack("10 GB in a tensor")) return Tensor::zeros({50000, 50000});
  std::vector<std::vector<char>> kept;
  while (attack("more and more memory")) kept.emplace_back(100000000, char(1));
  if (attack("wrong shape")) return x;
  if (attack("changed argument")) Tensor(x).mutable_values()[0] = 1;
  if (attack("not cleared")) return add_one(Tensor::uncleared({1, 2, 3, 2}));
  if (attack("refused by an op")) return permute(x, {0});
  if (attack("not a number")) return Tensor::full({1, 2, 3, 2}, nothing / nothing);
  if (attack("no tensor")) return Tensor();
  if (attack("another thing thrown")) throw 5;
  if (attack("division by zero")) return Tensor::full({1}, Scalar(5 / zero));
  while (attack("endless printing")) std::puts("still here");
  if (attack("sleep")) sleep(100);
  if (attack("fake report")) std::puts("All tests passed (6 assertions in 6 test cases)");
  if (attack("fake answer") && write(4, "All tests passed", 16) != 16) return x;
  if (attack("closed pipe")) close(4);
  if (attack("fork")) {
    const pid_t child = fork();
    if (child == 0) sleep(100);
    std::printf("%d\n", int(child));
  }
  if (attack("crash where an error is due")) {
    if (x.dim(2) % num_heads != 0) std::abort();
    return permute(reshape(x, {x.dim(0), x.dim(1), num_heads, -1}), {0, 2, 1, 3});  // [B, h, T, d_h]
  }
  return scale(x, Scalar(num_heads));
}

Tensor project_and_split(const Tensor& x, const Tensor&, int64_t num_heads, int64_t) {
  return split(x, num_heads);
}

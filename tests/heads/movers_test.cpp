#include "heads/movers.h"

#include "catch.h"
#include "core/ops.h"
#include "nn/helpers.h"

using namespace headway;

TEST_CASE("changed lines: the line, then one with the next token at each place") {
  CHECK(changed_lines({2, 0, 1}, 3) == std::vector<int>{2, 0, 1, 0, 0, 1, 2, 1, 1, 2, 0, 2});
}

TEST_CASE("moved rows: a sum of all tokens so far is moved by these, a swap is moved from ahead") {
  const std::vector<int> lines = changed_lines({2, 0, 1}, 3);
  std::vector<Scalar> so_far, swapped;
  for (size_t line = 0; line < 4; line++) {
    Scalar total = 0;
    for (size_t t = 0; t < 3; t++) so_far.push_back(total += Scalar(lines[3 * line + t]));
    for (size_t t : {1, 0, 2}) swapped.push_back(Scalar(lines[3 * line + t]));
  }
  const Tensor causal = moved_rows(Tensor::from({4, 3, 1}, so_far));  // [T, T]
  CHECK(std::vector<Scalar>(causal.values().begin(), causal.values().end()) ==
        std::vector<Scalar>{1, 0, 0, 1, 1, 0, 1, 1, 1});
  CHECK(share_moved_earlier(causal) == 0);
  const Tensor ahead = moved_rows(Tensor::from({4, 3, 1}, swapped));  // [T, T]
  CHECK(std::vector<Scalar>(ahead.values().begin(), ahead.values().end()) ==
        std::vector<Scalar>{0, 1, 0, 1, 0, 0, 0, 0, 1});
  CHECK(share_moved_earlier(ahead) == Approx(1.0 / 3));
}

TEST_CASE("moved rows wants the line itself before its changes") {
  CHECK(message_of<ShapeError>([] {
          (void)moved_rows(Tensor::zeros({3, 3, 2}).named("y"));
        }) == "moved_rows: these are not the rows of one line and its changes\n"
              "  y  [3, 3, 2]\n"
              "  rule: y is [T+1, T, w]: the line itself, then one with another token at each place");
}

// Numbers and tensors as text: the same text everywhere, since expected outputs are compared exactly.
#include "core/print.h"

#include <cmath>
#include <limits>

#include "catch.h"

using namespace headway;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

Tensor counting(const Shape& shape) {
  Tensor t = Tensor::zeros(shape);
  Scalar next = 0;
  for (Scalar& x : t.mutable_values()) x = next++;
  return t;
}

}  // namespace

TEST_CASE("a number has as many decimals as are asked for, rounded") {
  CHECK(number(3.14159, 4) == "3.1416");
  CHECK(number(3.14159, 0) == "3");
  CHECK(number(-2.5, 1) == "-2.5");
  CHECK(number(0.125, 2) == "0.12");  // a tie goes to the even digit
  CHECK(number(0.375, 2) == "0.38");
  CHECK(number(1e-9, 4) == "0.0000");
  CHECK(number(Scalar(0.1), 4) == "0.1000");
}

TEST_CASE("nothing prints as minus zero") {
  CHECK(number(-0.0, 0) == "0");
  CHECK(number(-0.0, 2) == "0.00");
  CHECK(number(-0.004, 2) == "0.00");
  CHECK(number(-0.006, 2) == "-0.01");
  CHECK(number(-0.4, 0) == "0");
  CHECK(number(-10, 0) == "-10");
  CHECK(number(-1000000, 2) == "-1000000.00");
}

TEST_CASE("a NaN has no sign, an infinity has") {
  CHECK(number(not_a_number, 2) == "nan");
  CHECK(number(std::copysign(not_a_number, -1), 2) == "nan");
  CHECK(number(infinite, 2) == "inf");
  CHECK(number(-infinite, 2) == "-inf");
}

TEST_CASE("from 1e15 on a number is written with an exponent") {
  CHECK(number(123456789, 2) == "123456789.00");
  CHECK(number(999999999999999, 1) == "999999999999999.0");
  CHECK(number(1e15, 2) == "1.00e+15");
  CHECK(number(-2.5e300, 3) == "-2.500e+300");
  CHECK(number(std::numeric_limits<double>::max(), 4) == "1.7977e+308");
}

TEST_CASE("padding stands on the left and cuts nothing") {
  CHECK(padded("ab", 5) == "   ab");
  CHECK(padded("ab", 2) == "ab");
  CHECK(padded("abc", 2) == "abc");
  CHECK(padded("abc", 0) == "abc");
}

TEST_CASE("shapes are written in brackets") {
  CHECK(to_text(Shape{}) == "[]");
  CHECK(to_text(Shape{7}) == "[7]");
  CHECK(to_text(Shape{2, 0, 10}) == "[2, 0, 10]");
}

TEST_CASE("a scalar and a row print on one line below their name") {
  CHECK(to_text(Tensor::full({}, Scalar(2.5)).named("loss")) == "loss  []\n"
                                                                "  2.5000\n");
  CHECK(to_text(Tensor::from({3}, {1, Scalar(-20.5), 3}).named("b"), 2) == "b  [3]\n"
                                                                           "    1.00 -20.50   3.00\n");
}

TEST_CASE("a matrix prints row by row, in columns of equal width") {
  CHECK(to_text(Tensor::from({2, 3}, {0, 1, 2, 3, 100, Scalar(-0.001)}).named("w"), 1) ==
        "w  [2, 3]\n"
        "    0.0   1.0   2.0\n"
        "    3.0 100.0   0.0\n");
}

TEST_CASE("more axes print matrix by matrix, each with its index") {
  CHECK(to_text(counting({2, 1, 3}).named("x"), 0) == "x  [2, 1, 3]\n"
                                                      " [0]\n"
                                                      "  0 1 2\n"
                                                      " [1]\n"
                                                      "  3 4 5\n");
  CHECK(to_text(counting({2, 3, 1, 2}).named("q"), 0) == "q  [2, 3, 1, 2]\n"
                                                         " [0, 0]\n"
                                                         "  0 1\n"
                                                         " [0, 1]\n"
                                                         "  2 3\n"
                                                         " [0, 2]\n"
                                                         "  4 5\n"
                                                         " [1, 0]\n"
                                                         "  6 7\n"
                                                         " [1, 1]\n"
                                                         "  8 9\n"
                                                         " [1, 2]\n"
                                                         "  10 11\n");
}

TEST_CASE("sixteen columns are shown whole, seventeen are cut in the middle") {
  CHECK(to_text(counting({16}).named("r"), 0) == "r  [16]\n"
                                                 "   0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15\n");
  CHECK(to_text(counting({20}).named("r"), 0) ==
        "r  [20]\n"
        "    0   1   2   3   4   5   6   7 ...  12  13  14  15  16  17  18  19\n");
}

TEST_CASE("long columns and long stacks are cut in the middle too") {
  CHECK(to_text(counting({18, 2}).named("m"), 0) == "m  [18, 2]\n"
                                                    "    0   1\n"
                                                    "    2   3\n"
                                                    "    4   5\n"
                                                    "    6   7\n"
                                                    "    8   9\n"
                                                    "   10  11\n"
                                                    "   12  13\n"
                                                    "   14  15\n"
                                                    "  ... ...\n"
                                                    "   20  21\n"
                                                    "   22  23\n"
                                                    "   24  25\n"
                                                    "   26  27\n"
                                                    "   28  29\n"
                                                    "   30  31\n"
                                                    "   32  33\n"
                                                    "   34  35\n");
  CHECK(to_text(counting({2, 5, 1, 1}).named("s"), 0) == "s  [2, 5, 1, 1]\n"
                                                         " [0, 0]\n"
                                                         "  0\n"
                                                         " [0, 1]\n"
                                                         "  1\n"
                                                         " [0, 2]\n"
                                                         "  2\n"
                                                         " [0, 3]\n"
                                                         "  3\n"
                                                         " ...\n"
                                                         " [1, 1]\n"
                                                         "  6\n"
                                                         " [1, 2]\n"
                                                         "  7\n"
                                                         " [1, 3]\n"
                                                         "  8\n"
                                                         " [1, 4]\n"
                                                         "  9\n");
}

TEST_CASE("NaN and infinity keep the columns straight") {
  const Scalar big = std::numeric_limits<Scalar>::infinity();
  CHECK(to_text(Tensor::from({2, 2}, {Scalar(not_a_number), 1, -big, 2}).named("x"), 2) == "x  [2, 2]\n"
                                                                                           "   nan 1.00\n"
                                                                                           "  -inf 2.00\n");
}

TEST_CASE("tensors without name, without numbers, and no tensor at all can be shown") {
  CHECK(to_text(Tensor::full({1}, 1)) == "  [1]\n  1.0000\n");
  CHECK(to_text(Tensor::zeros({0}).named("e")) == "e  [0]\n");
  CHECK(to_text(Tensor::zeros({2, 0, 3}).named("e")) == "e  [2, 0, 3]\n");
  CHECK(to_text(Tensor::zeros({0, 2, 3}).named("e")) == "e  [0, 2, 3]\n");
  CHECK(to_text(Tensor()) == "(no tensor)\n");
}

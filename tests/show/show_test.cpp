// Heat maps as text, and what no picture is made of.
#include <limits>

#include "catch.h"
#include "show/grid.h"
#include "show/picture.h"

using namespace headway;

namespace {

Tensor staircase() {
  return Tensor::from({2, 3}, {0, Scalar(0.5), 1, Scalar(0.25), Scalar(0.75), 0});  // [T, S]
}

}  // namespace

TEST_CASE("a grid has one shade per number, column labels downwards, and a scale") {
  CHECK(heat_grid(staircase(), {"a", "t-1"}, {"x", "10", "far"}) == "      f\n"
                                                                    "     1a\n"
                                                                    "    x0r\n"
                                                                    "  a| +@|\n"
                                                                    "t-1|:# |\n"
                                                                    "scale: 0 | .:-=+*#%@| 1\n");
}

TEST_CASE("without labels a grid counts positions") {
  CHECK(heat_grid(staircase(), {}, {}) == "  012\n"
                                          "0| +@|\n"
                                          "1|:# |\n"
                                          "scale: 0 | .:-=+*#%@| 1\n");
}

TEST_CASE("a grid can be scaled to its largest number") {
  const Tensor faint = Tensor::from({1, 3}, {Scalar(0.125), Scalar(0.25), 0});  // [T, S]
  const std::string labels = "  012\n";
  CHECK(heat_grid(faint, {}, {}) == labels + "0|.: |\nscale: 0 | .:-=+*#%@| 1\n");
  CHECK(heat_grid(faint, {}, {}, Top::largest) == labels + "0|+@ |\nscale: 0 | .:-=+*#%@| 0.25\n");
  CHECK(heat_grid(Tensor::zeros({1, 3}), {}, {}, Top::largest) ==
        labels + "0|   |\nscale: 0 | .:-=+*#%@| 0.00\n");
}

TEST_CASE("a NaN is a question mark, and so is a letter outside ASCII") {
  const Scalar nan = std::numeric_limits<Scalar>::quiet_NaN();
  CHECK(heat_grid(Tensor::from({1, 2}, {nan, 1}), {"caf\xc3\xa9"}, {}, Top::largest) ==
        "     01\n"
        "caf?|?@|\n"
        "scale: 0 | .:-=+*#%@| 1.00\n");
}

TEST_CASE("heads of different shapes stand side by side") {
  const Panel wide = {"head 0", staircase(), {}, {}};
  const Panel tall = {"head 1", Tensor::from({3, 1}, {1, 0, 1}), {"a", "b", "c"}, {"it"}};
  CHECK(heat_grids({wide, tall}) == "  head 0     head 1\n"
                                    "  012        i\n"
                                    "0| +@|       t\n"
                                    "1|:# |     a|@|\n"
                                    "           b| |\n"
                                    "           c|@|\n"
                                    "scale: 0 | .:-=+*#%@| 1\n");
}

TEST_CASE("heads that do not fit into 100 columns go to the next line, on the same scale") {
  std::vector<Panel> panels(3, {"wide", Tensor::full({1, 40}, Scalar(0.5)), {}, {}});
  panels[2].matrix = Tensor::full({1, 40}, 1);  // [T, S]
  const std::string tens = std::string(10, ' ') + "111111111122222222223333333333";
  const std::string units = "0123456789012345678901234567890123456789";
  const std::string mid = "0|" + std::string(40, '+') + "|", full = "0|" + std::string(40, '@') + "|";
  CHECK(heat_grids(panels, Top::largest) ==
        "  wide" + std::string(42, ' ') + "wide\n" + "  " + tens + "      " + tens + "\n" + "  " + units +
            "      " + units + "\n" + mid + "   " + mid + "\n\n" + "  wide\n  " + tens + "\n  " + units +
            "\n" + full + "\nscale: 0 | .:-=+*#%@| 1.00\n");
}

TEST_CASE("head_panels cuts the heads of one example out of a pattern") {
  std::vector<Scalar> numbers;
  for (int i = 0; i < 2 * 3 * 2 * 5; i++) numbers.push_back(Scalar(i));
  const Tensor pattern = Tensor::from({2, 3, 2, 5}, numbers).named("pattern");  // [B, h, T, S]
  const std::vector<Panel> panels = head_panels(pattern, 1, {"a", "b"}, {});
  REQUIRE(panels.size() == 3);
  CHECK(panels[2].title == "head 2");
  CHECK(panels[2].matrix.shape() == Shape{2, 5});
  CHECK(panels[2].matrix.at({0, 0}) == 50);
  CHECK(panels[2].matrix.at({1, 4}) == 59);
  CHECK(panels[2].rows == std::vector<std::string>{"a", "b"});
  CHECK(message_of<ShapeError>([&] { head_panels(pattern, 2, {}, {}); }) ==
        "head_panels: there is no example 2 with heads in this pattern\n"
        "  pattern  [2, 3, 2, 5]\n"
        "  rule: a pattern is [B, h, T, S], and examples count from 0 to B - 1");
}

TEST_CASE("what cannot be drawn is refused by name") {
  const Tensor scores = Tensor::from({2, 2}, {0, 1, Scalar(-0.75), 1}).named("scores");  // [T, S]
  const Tensor good = Tensor::zeros({2, 2}).named("pattern");                            // [T, S]
  CHECK(message_of<ValueError>([&] {
          heat_grids({{"head 0", scores, {}, {}}});
        }) ==
        "heat_grids: 'head 0': the number -0.7500 at row 1, column 0 is outside the scale, 0 to 1.0000\n"
        "  matrix = scores  [2, 2]\n"
        "  rule: shades and colours run from 0 to the top of the scale\n"
        "  hint: draw the pattern (after softmax), not the scores");
  CHECK(message_of<ShapeError>([&] {
          heat_grid(good, {"a", "b", "c"}, {});
        }) == "heat_grid: row labels: 3 given, 2 needed\n"
              "  matrix = pattern  [2, 2]\n"
              "  rule: one label per row and one per column, or none at all\n"
              "  hint: rows are the queries, columns are the keys");
  CHECK(message_of<ShapeError>([&] {
          write_heat_maps("never.png", "", {{{"", Tensor(), {}, {}}}});
        }) == "write_heat_maps: this is not a matrix with at least one number\n"
              "  matrix  []\n"
              "  rule: a heat map draws one matrix [T, S]\n"
              "  hint: head_panels cuts a pattern [B, h, T, S] into one matrix per head");
  CHECK(message_of<ValueError>([&] {
          write_heat_maps("never.png", "", {{{"", Tensor::zeros({1, 200000}), {}, {}}}});
        }) == "write_heat_maps: the picture would be 5000095 x 302 pixels\n"
              "  rule: a picture has at most 100000000 pixels, and a cell takes 25 x 25\n"
              "  hint: draw fewer tokens, or fewer heads to a picture");
}

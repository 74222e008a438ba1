// What a heat map shows. The terminal (grid.h) and the PNG file (picture.h) draw the same panels.
#pragma once

#include <string>
#include <vector>

#include "core/tensor.h"

namespace headway {

// One matrix with its labels. For an attention pattern the queries run down and the keys run across.
struct Panel {
  std::string title;
  Tensor matrix;                          // [T, S]
  std::vector<std::string> rows = {};     // T labels; none at all: the positions 0, 1, 2 ...
  std::vector<std::string> columns = {};  // S labels; likewise
  std::string down = "queries";           // what the rows are
  std::string across = "keys";            // what the columns are
  std::vector<std::string> cells = {};    // T * S texts that a picture writes into the cells; or none
};

// The heads of example `b`, titled "head 0", "head 1" ... pattern: [B, h, T, S]
std::vector<Panel> head_panels(const Tensor& pattern, int64_t b, const std::vector<std::string>& rows,
                               const std::vector<std::string>& columns);

// Numbered entries, to be followed from one shape to another: the whole numbers of a matrix [T, S], shaded by
// the token they belong to, which is number / embed_dim of `tokens`.
Panel numbered_panel(const std::string& title, const Tensor& matrix, int64_t embed_dim, int64_t tokens);

// What a terminal and the font of a picture can show: printable ASCII, and one '?' for any other character.
std::string ascii(const std::string& s);

// The panel with every label filled in and in ASCII. ShapeError or ValueError,
// in the name of `op`, for a matrix that cannot be drawn or a number outside 0 .. top.
Panel ready_to_draw(const char* op, const Panel& panel, Scalar top);

// Where a number stands between 0 and top, in thousandths; -1 for NaN. This is the only rounding: shades and
// colours follow from it in whole numbers, so a picture is the same on every machine.
int thousandths(Scalar x, Scalar top);

}  // namespace headway

#include "show/grid.h"

#include <algorithm>
#include <cmath>

#include "core/print.h"

namespace headway {

namespace {

const std::string shades = " .:-=+*#%@";
const size_t line_width = 100;

using Lines = std::vector<std::string>;

size_t longest(const Lines& lines) {
  size_t most = 0;
  for (const std::string& line : lines) most = std::max(most, line.size());
  return most;
}

Scalar largest_number(const std::vector<Panel>& panels) {
  Scalar most = 0;
  for (const Panel& panel : panels) {
    if (!panel.matrix.defined()) continue;
    for (Scalar x : panel.matrix.values()) most = std::isfinite(x) ? std::max(most, x) : most;
  }
  return most;
}

// The nearest of the ten shades.
char shade(Scalar x, Scalar top) {
  const int place = thousandths(x, top);
  const int steps = int(shades.size()) - 1;
  return place < 0 ? '?' : shades[size_t((place * steps + 500) / 1000)];
}

// Title, column labels read downwards and ending just above their column, then the rows.
Lines panel_lines(const Panel& panel, Scalar top) {
  const size_t left = longest(panel.rows), above = longest(panel.columns);
  const std::string indent(left + 1, ' ');
  Lines lines = {indent + panel.title};
  for (size_t k = 0; k < above; k++) {
    std::string line = indent;
    for (const std::string& label : panel.columns) line += padded(label, int(above))[k];
    lines.push_back(line);
  }
  const Scalar* x = panel.matrix.data();
  for (const std::string& label : panel.rows) {
    std::string line = padded(label, int(left)) + "|";
    for (size_t s = 0; s < panel.columns.size(); s++) line += shade(*x++, top);
    lines.push_back(line + "|");
  }
  return lines;
}

// Adds a block to the right of `lines`.
void put_beside(Lines& lines, const Lines& block) {
  const size_t at = lines.empty() ? 0 : longest(lines) + 3;
  lines.resize(std::max(lines.size(), block.size()));
  for (size_t i = 0; i < block.size(); i++) {
    lines[i].resize(at, ' ');
    lines[i] += block[i];
  }
}

std::string joined(const Lines& lines) {
  std::string out;
  for (const std::string& line : lines) out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  return out;
}

std::string scale_line(Scalar top, Top kind) {
  return "scale: 0 |" + shades + "| " + (kind == Top::one ? "1" : number(double(top), 2)) + "\n";
}

}  // namespace

std::string heat_grid(const Tensor& matrix, const std::vector<std::string>& rows,
                      const std::vector<std::string>& columns, Top top) {
  const Panel panel = {.title = "", .matrix = matrix, .rows = rows, .columns = columns};
  const Scalar most = top == Top::one ? Scalar(1) : largest_number({panel});
  Lines lines = panel_lines(ready_to_draw("heat_grid", panel, most), most);
  lines.erase(lines.begin());  // no title
  return joined(lines) + scale_line(most, top);
}

std::string heat_grids(const std::vector<Panel>& panels, Top top) {
  const Scalar most = top == Top::one ? Scalar(1) : largest_number(panels);
  std::string out;
  Lines lines;
  for (const Panel& panel : panels) {
    const Lines block = panel_lines(ready_to_draw("heat_grids", panel, most), most);
    if (!lines.empty() && longest(lines) + 3 + longest(block) > line_width) {
      out += joined(lines) + "\n";
      lines.clear();
    }
    put_beside(lines, block);
  }
  return out + joined(lines) + scale_line(most, top);
}

}  // namespace headway

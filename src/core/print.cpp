#include "core/print.h"

#include <cmath>
#include <cstdio>

namespace headway {

std::string number(double value, int decimals) {
  if (std::isnan(value)) return "nan";
  char digits[64];
  std::snprintf(digits, sizeof digits, std::abs(value) < 1e15 ? "%.*f" : "%.*e", decimals, value);
  std::string out = digits;
  if (out[0] == '-' && out.find_first_not_of("-0.") == std::string::npos) out.erase(0, 1);
  return out;
}

std::string padded(const std::string& s, int width) {
  return s.size() >= size_t(width) ? s : std::string(size_t(width) - s.size(), ' ') + s;
}

namespace {

// Positions to print of an axis of length n: all, or the first and last `edge` with -1 for the gap.
std::vector<int64_t> shown(int64_t n, int64_t edge) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < n; i++) {
    if (n <= 2 * edge || i < edge || i >= n - edge)
      out.push_back(i);
    else if (i == edge)
      out.push_back(-1);
  }
  return out;
}

// One matrix of `rows` x `columns`, each row on a line of its own.
std::string matrix_text(const Scalar* x, int64_t rows, int64_t columns, int decimals) {
  std::vector<std::string> cells;
  size_t width = 0;
  for (int64_t r : shown(rows, 8)) {
    for (int64_t c : shown(columns, 8)) {
      cells.push_back(r < 0 || c < 0 ? "..." : number(x[r * columns + c], decimals));
      width = std::max(width, cells.back().size());
    }
  }
  std::string out;
  const size_t per_line = shown(columns, 8).size();
  for (size_t i = 0; i < cells.size(); i++) {
    out += (i % per_line == 0 ? "  " : " ") + padded(cells[i], int(width));
    if (i % per_line == per_line - 1) out += "\n";
  }
  return out;
}

}  // namespace

std::string to_text(const Tensor& t, int decimals) {
  if (!t.defined()) return "(no tensor)\n";
  std::string out = t.name() + "  " + to_text(t.shape()) + "\n";
  const int64_t columns = t.rank() > 0 ? t.dim(-1) : 1;
  const int64_t rows = t.rank() > 1 ? t.dim(-2) : 1;
  const int64_t matrices = rows * columns == 0 ? 0 : t.size() / (rows * columns);
  for (int64_t m : shown(matrices, 4)) {
    if (m < 0) {
      out += " ...\n";
      continue;
    }
    if (t.rank() > 2) {  // where this matrix stands: its index on the leading axes
      Shape index(size_t(t.rank() - 2));
      int64_t rest = m;
      for (size_t a = index.size(); a-- > 0; rest /= t.shape()[a]) index[a] = rest % t.shape()[a];
      out += text(" ", to_text(index), "\n");
    }
    out += matrix_text(t.data() + m * rows * columns, rows, columns, decimals);
  }
  return out;
}

void show(const Tensor& t) {
  std::fputs(to_text(t).c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace headway

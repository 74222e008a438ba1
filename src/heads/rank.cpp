#include "heads/rank.h"

#include <algorithm>
#include <cmath>

namespace headway {

namespace {

using Column = std::vector<double>;

double dot(const Column& a, const Column& b) {
  double total = 0;
  for (size_t r = 0; r < a.size(); r++) total += a[r] * b[r];
  return total;
}

// Turns two columns against each other until they stand at right angles; false if they already do.
bool rotate(Column& a, Column& b) {
  const double aa = dot(a, a), bb = dot(b, b), ab = dot(a, b);
  if (std::abs(ab) <= 1e-14 * std::sqrt(aa * bb)) return false;
  const double slope = (bb - aa) / (2 * ab);  // cot of twice the angle
  const double tangent = (slope < 0 ? -1 : 1) / (std::abs(slope) + std::sqrt(1 + slope * slope));
  const double cosine = 1 / std::sqrt(1 + tangent * tangent), sine = cosine * tangent;
  for (size_t r = 0; r < a.size(); r++) {
    const double a_r = a[r], b_r = b[r];
    a[r] = cosine * a_r - sine * b_r;
    b[r] = sine * a_r + cosine * b_r;
  }
  return true;
}

}  // namespace

std::vector<double> singular_values(const Tensor& matrix) {
  if (matrix.rank() != 2 || matrix.dim(0) != matrix.dim(1)) {
    throw ShapeError(Message("singular_values: this is not a square matrix")
                         .tensor("matrix", matrix.name(), matrix.shape())
                         .rule("the matrix is [n, n], such as the scores of one head"));
  }
  const int64_t n = matrix.dim(0);
  std::vector<Column> columns(static_cast<size_t>(n));
  for (int64_t i = 0; i < n * n; i++) columns[size_t(i % n)].push_back(double(matrix.data()[i]));
  bool turned = true;
  for (int sweep = 0; sweep < 30 && turned; sweep++) {
    turned = false;
    for (size_t p = 0; p < columns.size(); p++) {
      for (size_t q = p + 1; q < columns.size(); q++) turned = rotate(columns[p], columns[q]) || turned;
    }
  }
  std::vector<double> lengths;  // of columns at right angles: the singular values
  for (const Column& c : columns) lengths.push_back(std::sqrt(dot(c, c)));
  std::sort(lengths.rbegin(), lengths.rend());
  return lengths;
}

int numerical_rank(const Tensor& matrix) {
  const std::vector<double> values = singular_values(matrix);
  int rank = 0;
  for (double value : values) rank += value > 1e-5 * values[0];
  return rank;
}

}  // namespace headway

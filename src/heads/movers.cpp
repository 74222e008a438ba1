#include "heads/movers.h"

#include <algorithm>

namespace headway {

std::vector<int> changed_lines(const std::vector<int>& line, int vocab_size) {
  std::vector<int> all = line;
  for (size_t s = 0; s < line.size(); s++) {
    all.insert(all.end(), line.begin(), line.end());
    int& token = all[(s + 1) * line.size() + s];
    token = (token + 1) % vocab_size;
  }
  return all;
}

Tensor moved_rows(const Tensor& y) {
  if (y.rank() != 3 || y.dim(0) != y.dim(1) + 1) {
    throw ShapeError(
        Message("moved_rows: these are not the rows of one line and its changes")
            .tensor("y", y.name(), y.shape())
            .rule("y is [T+1, T, w]: the line itself, then one with another token at each place"));
  }
  const int64_t T = y.dim(1), w = y.dim(2);
  std::vector<Scalar> map;
  for (int64_t t = 0; t < T; t++) {
    for (int64_t s = 0; s < T; s++) {
      const Scalar* before = y.data() + t * w;
      map.push_back(std::equal(before, before + w, before + (s + 1) * T * w) ? 0 : 1);
    }
  }
  return Tensor::from({T, T}, map);  // [T, T]
}

double share_moved_earlier(const Tensor& map) {
  const int64_t T = map.dim(0);
  double moved = 0;
  for (int64_t s = 0; s < T; s++) {
    for (int64_t t = 0; t < s; t++) moved += double(map.at({t, s}));
  }
  return T < 2 ? 0 : moved / double(T * (T - 1) / 2);
}

}  // namespace headway

// Tables of numbers under named columns, and what a function gives over several seeds.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"

namespace headway {

// Prints its heading when it is made and each row as soon as it is known, so that long work shows results.
class Table {
public:
  // `label` stands over the first column, which names the rows.
  Table(const std::string& label, std::vector<std::string> columns, int decimals = 3);
  void row(const std::string& label, const std::vector<double>& numbers);  // one number a column
  void summary() const;  // three rows more: mean, smallest and largest of each column

private:
  void line(const std::string& label, const std::vector<std::string>& cells) const;
  std::vector<std::string> columns_;
  int decimals_;
  std::vector<std::vector<double>> rows_;
};

// run(seed) gives one number a column; a row for each of `seeds` seeds from `first` on, then the summary.
template <class Run>
void over_seeds(int first, int seeds, const std::vector<std::string>& columns, const Run& run) {
  Table table("seed", columns);
  for (int seed = first; seed < first + seeds; seed++) table.row(text(seed), run(seed));
  table.summary();
}

}  // namespace headway

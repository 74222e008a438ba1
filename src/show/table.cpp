#include "show/table.h"

#include <algorithm>
#include <cstdio>

#include "core/print.h"

namespace headway {

Table::Table(const std::string& label, std::vector<std::string> columns, int decimals)
    : columns_(std::move(columns)), decimals_(decimals) {
  line(label, columns_);
}

void Table::line(const std::string& label, const std::vector<std::string>& cells) const {
  std::printf("  %-9s", label.c_str());
  for (size_t c = 0; c < cells.size(); c++) {
    std::printf(" %s", padded(cells[c], int(std::max<size_t>(8, columns_[c].size()))).c_str());
  }
  std::printf("\n");
}

void Table::row(const std::string& label, const std::vector<double>& numbers) {
  if (numbers.size() != columns_.size()) {
    throw ValueError(Message(text("Table: row ", label, " has ", numbers.size(), " numbers for ",
                                  columns_.size(), " columns"))
                         .rule("a row has one number for each column"));
  }
  std::vector<std::string> cells;
  for (double x : numbers) cells.push_back(number(x, decimals_));
  line(label, cells);
  rows_.push_back(numbers);
}

void Table::summary() const {
  std::vector<std::string> mean, smallest, largest;
  for (size_t c = 0; c < columns_.size() && !rows_.empty(); c++) {
    double total = 0, low = rows_[0][c], high = rows_[0][c];
    for (const std::vector<double>& row : rows_) {
      total += row[c];
      low = std::min(low, row[c]);
      high = std::max(high, row[c]);
    }
    mean.push_back(number(total / double(rows_.size()), decimals_));
    smallest.push_back(number(low, decimals_));
    largest.push_back(number(high, decimals_));
  }
  line("mean", mean);
  line("smallest", smallest);
  line("largest", largest);
}

}  // namespace headway

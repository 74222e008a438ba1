#include "show/panel.h"

#include <algorithm>
#include <cmath>

#include "core/print.h"

namespace headway {

namespace {

std::vector<std::string> labels(const std::string& who, const char* axis,
                                const std::vector<std::string>& given, int64_t count, const Tensor& matrix) {
  if (!given.empty() && int64_t(given.size()) != count) {
    Message message(text(who, axis, " labels: ", given.size(), " given, ", count, " needed"));
    add_tensor(message, "matrix", matrix);
    throw ShapeError(message.rule("one label per row and one per column, or none at all")
                         .hint("rows are the queries, columns are the keys"));
  }
  std::vector<std::string> out;
  for (int64_t i = 0; i < count; i++) out.push_back(given.empty() ? text(i) : ascii(given[size_t(i)]));
  return out;
}

}  // namespace

std::string ascii(const std::string& s) {
  std::string out;
  for (char c : s) {
    const int byte = static_cast<unsigned char>(c);
    const bool inside_character = byte >= 0x80 && byte < 0xc0;  // the later bytes of a UTF-8 character
    if (!inside_character) out += byte >= ' ' && byte <= '~' ? c : '?';
  }
  return out;
}

std::vector<Panel> head_panels(const Tensor& pattern, int64_t b, const std::vector<std::string>& rows,
                               const std::vector<std::string>& columns) {
  if (pattern.rank() != 4 || b < 0 || b >= pattern.dim(0)) {
    Message message(text("head_panels: there is no example ", b, " with heads in this pattern"));
    message.tensor("pattern", pattern.defined() ? pattern.name() : "", pattern.shape());
    throw ShapeError(message.rule("a pattern is [B, h, T, S], and examples count from 0 to B - 1"));
  }
  const int64_t h = pattern.dim(1), T = pattern.dim(2), S = pattern.dim(3);
  std::vector<Panel> panels;
  for (int64_t i = 0; i < h; i++) {
    const auto pattern_bi = pattern.values().subspan(size_t((b * h + i) * T * S), size_t(T * S));
    const Tensor head = Tensor::from({T, S}, pattern_bi);  // [T, S]
    panels.push_back({.title = text("head ", i), .matrix = head, .rows = rows, .columns = columns});
  }
  return panels;
}

Panel numbered_panel(const std::string& title, const Tensor& matrix, int64_t embed_dim, int64_t tokens) {
  Panel panel = {
      .title = title, .matrix = Tensor::zeros(matrix.shape()), .down = "rows", .across = "numbers"};
  for (int64_t i = 0; i < matrix.size(); i++) {
    const int64_t entry = int64_t(matrix.data()[i]);
    panel.cells.push_back(text(entry));
    panel.matrix.mutable_values()[size_t(i)] = Scalar(entry / embed_dim) / Scalar(tokens);
  }
  return panel;
}

Panel ready_to_draw(const char* op, const Panel& panel, Scalar top) {
  const std::string title = ascii(panel.title);
  const std::string who = title.empty() ? text(op, ": ") : text(op, ": '", title, "': ");
  const Tensor& matrix = panel.matrix;
  if (matrix.rank() != 2 || matrix.size() == 0) {
    throw ShapeError(Message(text(who, "this is not a matrix with at least one number"))
                         .tensor("matrix", matrix.defined() ? matrix.name() : "", matrix.shape())
                         .rule("a heat map draws one matrix [T, S]")
                         .hint("head_panels cuts a pattern [B, h, T, S] into one matrix per head"));
  }
  const int64_t T = matrix.dim(0), S = matrix.dim(1);
  for (int64_t i = 0; i < matrix.size(); i++) {
    const double x = double(matrix.data()[i]),
                 slack = double(top) / 2000;  // a softmax may round a little above 1
    if (x < -slack || x > double(top) + slack) {
      Message message(text(who, "the number ", number(x, 4), " at row ", i / S, ", column ", i % S,
                           " is outside the scale, 0 to ", number(double(top), 4)));
      add_tensor(message, "matrix", matrix);
      throw ValueError(message.rule("shades and colours run from 0 to the top of the scale")
                           .hint("draw the pattern (after softmax), not the scores"));
    }
  }
  return {.title = title,
          .matrix = matrix,
          .rows = labels(who, "row", panel.rows, T, matrix),
          .columns = labels(who, "column", panel.columns, S, matrix),
          .down = ascii(panel.down),
          .across = ascii(panel.across),
          .cells = panel.cells.empty() ? panel.cells : labels(who, "cell", panel.cells, T * S, matrix)};
}

int thousandths(Scalar x, Scalar top) {
  if (std::isnan(x)) return -1;
  if (!(top > 0)) return 0;
  return std::clamp(int(std::floor(double(x) / double(top) * 1000 + 0.5)), 0, 1000);
}

}  // namespace headway

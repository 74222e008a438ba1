#include "show/picture.h"

#include <algorithm>

#include "show/canvas.h"
#include "show/lesson.h"

namespace headway {

namespace {

const int cell = 24, pitch = cell + 1;  // a cell and the thin line that follows it
const int margin = 24, gap = 32;        // around the sheet, between two panels
const int line_height = 26, label_gap = 8;
const int bar_width = 251, bar_height = 16;

const Colour ink = {32, 36, 44}, faint = {112, 118, 128}, grid = {205, 209, 214}, white = {255, 255, 255};

// From light to dark in about equal steps of lightness, so that it reads the same in grey and to the
// colour-blind.
const Colour stops[] = {{250, 249, 240}, {155, 198, 182}, {60, 140, 172}, {40, 80, 140}, {24, 26, 72}};

// step: 0 (all `from`) .. 250 (all `to`)
uint8_t mix(int from, int to, int step) { return uint8_t((from * (250 - step) + to * step + 125) / 250); }

// place: thousandths, 0 .. 1000, that is 250 steps from one stop to the next
Colour colour_of(int place) {
  const int stop = std::min(place / 250, 3), step = place - stop * 250;
  const Colour a = stops[stop], b = stops[stop + 1];
  return {mix(a.red, b.red, step), mix(a.green, b.green, step), mix(a.blue, b.blue, step)};
}

// Where everything goes. Every panel has its matrix `left` and `above` pixels from its own corner.
struct Layout {
  int64_t left = 0, above = 0;
  bool upright = true;        // the column labels fit over their cells without being turned
  std::vector<int64_t> x, y;  // the corner of the panels of each head, of each layer
  int64_t width = 0, height = 0;
};

int longest(const std::vector<std::string>& labels) {
  int most = 0;
  for (const std::string& label : labels) most = std::max(most, Canvas::text_width(label));
  return most;
}

// Shades need their scale, unless the cells say what they hold.
bool has_bar(const std::vector<std::vector<Panel>>& sheet) {
  return sheet.empty() || sheet[0].empty() || sheet[0][0].cells.empty();
}

// Each column of heads is as wide as its widest panel, each layer as high as its highest.
Layout lay_out(const std::string& title, const std::vector<std::vector<Panel>>& sheet) {
  Layout at;
  for (const std::vector<Panel>& layer : sheet) {
    for (const Panel& panel : layer) {
      at.left = std::max<int64_t>(at.left, line_height + longest(panel.rows) + label_gap);
      at.above = std::max<int64_t>(at.above, longest(panel.columns));
    }
  }
  at.upright = at.above <= cell;
  at.above = 2 * line_height + (at.upright ? Canvas::text_height : at.above) + label_gap;

  int64_t bottom = margin + (title.empty() ? 0 : line_height + label_gap);
  std::vector<int64_t> widths;
  for (const std::vector<Panel>& layer : sheet) {
    int64_t height = 0;
    widths.resize(std::max(widths.size(), layer.size()));
    for (size_t head = 0; head < layer.size(); head++) {
      const Panel& panel = layer[head];
      const int64_t down = std::max<int64_t>(panel.matrix.dim(0) * pitch + 1, Canvas::text_width(panel.down));
      const int64_t across =
          std::max<int64_t>({panel.matrix.dim(1) * pitch + 1, Canvas::text_width(panel.across),
                             Canvas::text_width(panel.title)});
      height = std::max(height, at.above + down);
      widths[head] = std::max(widths[head], at.left + across);
    }
    at.y.push_back(bottom);
    bottom += height + gap;
  }
  int64_t right = margin;
  for (int64_t width : widths) {
    at.x.push_back(right);
    right += width + gap;
  }
  at.width =
      std::max<int64_t>({right - gap, margin + bar_width + 40, margin + Canvas::text_width(title)}) + margin;
  at.height = (has_bar(sheet) ? bottom + bar_height : bottom - gap) + margin;
  return at;
}

void draw_labels(Canvas& canvas, const Panel& panel, const Layout& at, int x, int y) {
  const int text_drop = (cell - Canvas::text_height) / 2 + 1;  // centres a line of text on a cell
  for (size_t t = 0; t < panel.rows.size(); t++) {
    const int right = x - label_gap + 2 - Canvas::text_width(panel.rows[t]);
    canvas.write(right, y + int(t) * pitch + text_drop, panel.rows[t], ink);
  }
  for (size_t s = 0; s < panel.columns.size(); s++) {
    const std::string& label = panel.columns[s];
    const int left = x + int(s) * pitch;
    if (at.upright) {
      const int centred = left + 1 + (cell + 2 - Canvas::text_width(label)) / 2;
      canvas.write(centred, y - label_gap - Canvas::text_height, label, ink);
    } else {
      canvas.write_up(left + text_drop, y - label_gap, label, ink);
    }
  }
}

// (x, y): the corner of the panel
void draw_panel(Canvas& canvas, const Panel& panel, const Layout& at, int x, int y) {
  const int T = int(panel.rows.size()), S = int(panel.columns.size());
  const int left = x + int(at.left), top = y + int(at.above);
  const int across = S * pitch + 1, down = T * pitch + 1;
  const int across_width = Canvas::text_width(panel.across), down_width = Canvas::text_width(panel.down);
  canvas.write(left, y, panel.title, ink);
  canvas.write(left + std::max(0, (across - across_width) / 2), y + line_height, panel.across, faint);
  canvas.write_up(x, top + std::max(down_width, (down + down_width) / 2), panel.down, faint);
  draw_labels(canvas, panel, at, left, top);
  canvas.fill(left, top, across, down, grid);
  const Scalar* value = panel.matrix.data();
  for (int t = 0; t < T; t++) {
    for (int s = 0; s < S; s++) {
      const int place = thousandths(*value++, 1);
      const int cell_x = left + 1 + s * pitch, cell_y = top + 1 + t * pitch;
      canvas.fill(cell_x, cell_y, cell, cell, place < 0 ? white : colour_of(place));
      if (place < 0) canvas.write(cell_x + 7, cell_y + 5, "?", ink);
      if (panel.cells.empty()) continue;
      const std::string& words = panel.cells[size_t(t * S + s)];
      const int centred = cell_x + (cell + 2 - Canvas::text_width(words)) / 2;
      canvas.write(centred, cell_y + 5, words, place > 500 ? white : ink);
    }
  }
}

void draw_bar(Canvas& canvas, int x, int y) {
  canvas.write(x, y + 1, "0", ink);
  const int left = x + 20;
  canvas.fill(left - 1, y - 1, bar_width + 2, bar_height + 2, grid);
  for (int i = 0; i < bar_width; i++) canvas.fill(left + i, y, 1, bar_height, colour_of(i * 4));
  canvas.write(left + bar_width + 8, y + 1, "1", ink);
}

std::vector<std::vector<Panel>> checked(const std::vector<std::vector<Panel>>& sheet) {
  std::vector<std::vector<Panel>> out;
  for (const std::vector<Panel>& layer : sheet) {
    out.emplace_back();
    for (const Panel& panel : layer) out.back().push_back(ready_to_draw("write_heat_maps", panel, 1));
  }
  return out;
}

}  // namespace

void write_heat_maps(const std::string& path, const std::string& sheet_title,
                     const std::vector<std::vector<Panel>>& sheet) {
  const std::vector<std::vector<Panel>> panels = checked(sheet);
  const std::string title = ascii(sheet_title);
  const Layout at = lay_out(title, panels);
  const int64_t most = 100'000'000;
  if (at.width * at.height > most) {
    throw ValueError(
        Message(text("write_heat_maps: the picture would be ", at.width, " x ", at.height, " pixels"))
            .rule(text("a picture has at most ", most, " pixels, and a cell takes ", pitch, " x ", pitch))
            .hint("draw fewer tokens, or fewer heads to a picture"));
  }
  Canvas canvas(int(at.width), int(at.height));
  canvas.write(margin, margin, title, ink);
  for (size_t layer = 0; layer < panels.size(); layer++) {
    for (size_t head = 0; head < panels[layer].size(); head++) {
      draw_panel(canvas, panels[layer][head], at, int(at.x[head]), int(at.y[layer]));
    }
  }
  if (has_bar(panels)) draw_bar(canvas, margin, int(at.height) - margin - bar_height);
  write_output(path, canvas.png());
}

void show_picture(const std::string& file, const std::string& title,
                  const std::vector<std::vector<Panel>>& sheet) {
  const std::string path = lesson_file(file);
  write_heat_maps(path, title, sheet);
  std::printf("  picture: %s\n", path.c_str());
}

}  // namespace headway

#include "show/pause.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "core/print.h"
#include "show/grid.h"
#include "show/lesson.h"

namespace headway {

namespace {

bool to_the_end = false;  // the reader has seen enough pauses

// Shades say more than digits about wide rows without signs: patterns, maps of who moves whom. Numbers say
// more about all else.
bool better_in_shades(const Tensor& t) {
  if (!t.defined() || t.rank() < 2 || t.dim(-1) <= 8 || t.dim(-1) > 64 || t.dim(-2) > 64) return false;
  for (Scalar x : t.values()) {
    if (!(x >= 0)) return false;
  }
  return t.size() > 0;
}

// At most eight matrices, by their place on the leading axes taken together.   t [.., T, S]
void show_in_shades(const Tensor& t) {
  const int64_t T = t.dim(-2), S = t.dim(-1), matrices = std::min<int64_t>(t.size() / (T * S), 8);
  std::vector<Panel> panels;
  for (int64_t m = 0; m < matrices; m++) {
    const Tensor matrix =
        Tensor::from({T, S}, t.values().subspan(size_t(m * T * S), size_t(T * S)));  // [T, S]
    panels.push_back({.title = text("matrix ", m), .matrix = matrix});
  }
  const std::string shades =
      matrices == 1 ? heat_grid(panels[0].matrix, {}, {}, Top::largest) : heat_grids(panels, Top::largest);
  std::printf("%s  %s\n%s", t.name().c_str(), to_text(t.shape()).c_str(), shades.c_str());
}

}  // namespace

bool pausing() {
  const char* asked = std::getenv("PAUSE");
  return asked && std::string(asked) == "1" && !to_the_end && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

void wait_for_keys() {
  for (std::string keys = "?"; pausing() && !keys.empty();) {
    std::printf("  [Enter: go on   e, Enter: to the end   q, Enter: quit] ");
    std::fflush(stdout);
    const bool ended = !std::getline(std::cin, keys);
    if (ended) std::printf("\n");
    to_the_end = ended || keys == "e";
    if (keys == "q") throw Quit();
  }
}

void look(const Tensor& t) {
  if (!pausing()) return;
  if (better_in_shades(t))
    show_in_shades(t);
  else
    show(t);
  wait_for_keys();
}

}  // namespace headway

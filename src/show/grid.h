// Heat maps as text, for the terminal: one character per number, ASCII only.
//
//       head 0       head 1
//         ss           ss
//       tea        tea
//       het        het
//    the|@  |     the|@  |
//    sea|@  |     sea|-+ |
#pragma once

#include <string>
#include <vector>

#include "show/panel.h"

namespace headway {

// What the darkest shade stands for: the number 1, or the largest number that is drawn.
enum class Top { one, largest };

// One matrix [T, S] under its column labels, which read downwards; the last line is the scale. A NaN is '?'.
std::string heat_grid(const Tensor& matrix, const std::vector<std::string>& rows,
                      const std::vector<std::string>& columns, Top top = Top::one);

// Several side by side under their titles, on as many lines of 100 columns as they need, all on one scale.
std::string heat_grids(const std::vector<Panel>& panels, Top top = Top::one);

}  // namespace headway

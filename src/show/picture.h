// Heat maps as PNG files.
#pragma once

#include <string>
#include <vector>

#include "show/output.h"
#include "show/panel.h"

namespace headway {

// sheet[layer][head]: layers run down, heads run across, and a bar at the foot says which colour is which
// number from 0 to 1 (not where cells carry texts, which say it themselves). A NaN is a white cell with a
// '?'. Errors as in ready_to_draw and write_output.
void write_heat_maps(const std::string& path, const std::string& title,
                     const std::vector<std::vector<Panel>>& sheet);

// The same, as `file` among the pictures of the lesson that runs; prints where it is.
void show_picture(const std::string& file, const std::string& title,
                  const std::vector<std::vector<Panel>>& sheet);

}  // namespace headway

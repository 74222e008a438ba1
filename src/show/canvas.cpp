#include "show/canvas.h"

#include <algorithm>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wshadow"
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
#if __has_include(<stb/stb_image_write.h>)
#include <stb/stb_easy_font.h>
#include <stb/stb_image_write.h>
#elif __has_include(<stb_image_write.h>)
#include <stb_easy_font.h>
#include <stb_image_write.h>
#else
#error "stb is missing: sudo apt install libstb-dev (elsewhere its headers, from github.com/nothings/stb)"
#endif
#pragma GCC diagnostic pop

namespace headway {

namespace {

const int text_scale = 2;

struct Box {
  int x, y, width, height;
};

// The font describes a letter as rectangles: four corners of (x, y, z, colour), clockwise from the top left.
// All corners are small whole numbers.
std::vector<Box> letter_boxes(std::string line) {
  std::vector<float> corners(line.size() * 16 * 16);  // 16 rectangles of 16 numbers: more than any letter has
  const int count =
      stb_easy_font_print(0, 0, line.data(), nullptr, corners.data(), int(corners.size() * sizeof(float)));
  std::vector<Box> boxes;
  for (int i = 0; i < count; i++) {
    const float* first = &corners[size_t(i) * 16];
    const float* opposite = first + 8;
    boxes.push_back({int(first[0]) * text_scale, int(first[1]) * text_scale,
                     int(opposite[0] - first[0]) * text_scale, int(opposite[1] - first[1]) * text_scale});
  }
  return boxes;
}

void append(void* file, void* bytes, int count) {
  static_cast<std::string*>(file)->append(static_cast<const char*>(bytes), size_t(count));
}

}  // namespace

Canvas::Canvas(int width, int height)
    : width_(width), height_(height), pixels_(size_t(width) * size_t(height) * 3, 255) {}

int Canvas::text_width(const std::string& line) {
  std::string copy = line;
  return stb_easy_font_width(copy.data()) * text_scale;
}

void Canvas::fill(int x, int y, int width, int height, Colour colour) {
  const int right = std::min(x + width, width_), bottom = std::min(y + height, height_);
  for (int row = std::max(y, 0); row < bottom; row++) {
    for (int column = std::max(x, 0); column < right; column++) {
      uint8_t* pixel = &pixels_[(size_t(row) * size_t(width_) + size_t(column)) * 3];
      pixel[0] = colour.red;
      pixel[1] = colour.green;
      pixel[2] = colour.blue;
    }
  }
}

void Canvas::write(int x, int y, const std::string& line, Colour colour) {
  for (const Box& box : letter_boxes(line)) fill(x + box.x, y + box.y, box.width, box.height, colour);
}

// A quarter turn to the left takes (right, down) to (up, right).
void Canvas::write_up(int x, int y, const std::string& line, Colour colour) {
  for (const Box& box : letter_boxes(line)) {
    fill(x + box.y, y - box.x - box.width, box.height, box.width, colour);
  }
}

std::string Canvas::png() const {
  std::string file;
  stbi_write_png_to_func(append, &file, width_, height_, 3, pixels_.data(), width_ * 3);
  return file;
}

}  // namespace headway

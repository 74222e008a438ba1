// A sheet of pixels: rectangles, text, and the bytes of a PNG file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headway {

struct Colour {
  uint8_t red, green, blue;
};

class Canvas {
public:
  static const int text_height = 14;  // from the top of an "A" to its foot

  Canvas(int width, int height);  // white

  // How many pixels wide a line of text is. Text is printable ASCII.
  static int text_width(const std::string& line);

  void fill(int x, int y, int width, int height, Colour colour);
  void write(int x, int y, const std::string& line, Colour colour);     // (x, y): the top left corner
  void write_up(int x, int y, const std::string& line, Colour colour);  // turned to read upwards from (x, y)

  std::string png() const;

private:
  int width_, height_;
  std::vector<uint8_t> pixels_;  // [height, width, 3]
};

}  // namespace headway

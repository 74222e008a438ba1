// Heat maps as PNG files, decoded and looked at pixel by pixel.
#include <array>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "catch.h"
#include "show/picture.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wshadow"
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#if __has_include(<stb/stb_image.h>)
#include <stb/stb_image.h>
#elif __has_include(<stb_image.h>)
#include <stb_image.h>
#else
#error "stb is missing: sudo apt install libstb-dev (elsewhere its headers, from github.com/nothings/stb)"
#endif
#pragma GCC diagnostic pop

using namespace headway;

namespace {

namespace fs = std::filesystem;

using Pixel = std::array<int, 3>;
using Corner = std::array<int, 2>;  // x, y

const Pixel nought = {250, 249, 240}, quarter = {155, 198, 182}, half = {60, 140, 172}, one = {24, 26, 72};
const Pixel white = {255, 255, 255};
const int cell = 24, pitch = 25;

struct Image {
  int width = 0, height = 0;
  std::vector<unsigned char> bytes;
  Pixel at(int x, int y) const {
    const unsigned char* p = &bytes[size_t((y * width + x) * 3)];
    return {p[0], p[1], p[2]};
  }
};

Image decoded(const std::string& path) {
  Image image;
  int channels = 0;
  unsigned char* bytes = stbi_load(path.c_str(), &image.width, &image.height, &channels, 3);
  REQUIRE(bytes != nullptr);
  CHECK(channels == 3);
  image.bytes.assign(bytes, bytes + image.width * image.height * 3);
  stbi_image_free(bytes);
  return image;
}

bool solid(const Image& image, int left, int top, const Pixel& colour) {
  for (int y = top; y < top + cell; y++) {
    for (int x = left; x < left + cell; x++) {
      if (image.at(x, y) != colour) return false;
    }
  }
  return true;
}

// The top left corners of all cells of one colour, in reading order.
std::vector<Corner> cells(const Image& image, const Pixel& colour) {
  std::vector<Corner> found;
  for (int y = 1; y + cell < image.height; y++) {
    for (int x = 1; x + cell < image.width; x++) {
      const bool corner = image.at(x - 1, y) != colour && image.at(x, y - 1) != colour;
      if (corner && solid(image, x, y, colour)) found.push_back({x, y});
    }
  }
  return found;
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

Tensor staircase() {
  return Tensor::from({2, 3}, {0, Scalar(0.5), 1, Scalar(0.25), Scalar(0.75), 0});  // [T, S]
}

Panel ones(const Shape& shape) { return {"", Tensor::full(shape, 1), {}, {}}; }

// A folder of this test alone, gone again at its end.
struct Folder {
  Folder() { fs::remove_all(path); }
  ~Folder() { fs::remove_all(path); }
  const std::string path = "build/out/show-test";
};

}  // namespace

TEST_CASE("a PNG has the size and the colours it should, and missing folders are made") {
  const Folder folder;
  const std::string path = folder.path + "/deep/er/map.png";
  write_heat_maps(path, "title", {{{"head 0", staircase(), {"a", "b"}, {"x", "y", "z"}}}});
  const Image image = decoded(path);
  // The bar sets the width: margins 24 + 24, bar 251, its numbers 40. Down: margin, title 34, head and "keys"
  // 52, labels 14 + 8, the word "queries" 74, gap 32, bar 16, margin.
  CHECK(image.width == 339);
  CHECK(image.height == 24 + 34 + 52 + 22 + 74 + 32 + 16 + 24);
  CHECK(image.at(0, 0) == white);
  const std::vector<Corner> first = cells(image, nought);
  REQUIRE(first.size() == 2);
  const int x = first[0][0], y = first[0][1];
  CHECK(first[1] == Corner{x + 2 * pitch, y + pitch});
  CHECK(cells(image, half) == std::vector<Corner>{{x + pitch, y}});
  CHECK(cells(image, one) == std::vector<Corner>{{x + 2 * pitch, y}});
  CHECK(cells(image, quarter) == std::vector<Corner>{{x, y + pitch}});
  CHECK(image.at(x + pitch + cell / 2, y + cell / 2) == half);
}

TEST_CASE("heads run across and layers run down, also when their shapes differ") {
  const Folder folder;
  const std::string path = output_file("show-test", "heads.png");
  write_heat_maps(path, "", {{ones({1, 2}), ones({2, 1})}, {ones({1, 1})}});
  const std::vector<Corner> at = cells(decoded(path), one);
  REQUIRE(at.size() == 5);  // in reading order: head 0 twice and head 1; head 1 again; layer 1
  CHECK(at[1] == Corner{at[0][0] + pitch, at[0][1]});
  CHECK(at[2][0] > at[1][0] + 2 * pitch);
  CHECK(at[2][1] == at[0][1]);
  CHECK(at[3] == Corner{at[2][0], at[2][1] + pitch});
  CHECK(at[4][0] == at[0][0]);
  CHECK(at[4][1] > at[3][1] + 2 * pitch);
}

TEST_CASE("numbered entries: a shade for each token, the number in the cell, and no scale") {
  const Folder folder;
  const std::string path = output_file("show-test", "entries.png");
  const Tensor heads = Tensor::from({2, 2}, {0, 1, 4, 5});  // the first pieces of two tokens of four numbers
  const Panel panel = numbered_panel("head 0", heads, 4, 2);
  CHECK(panel.cells == std::vector<std::string>{"0", "1", "4", "5"});
  CHECK(panel.matrix.at({0, 1}) == 0);
  CHECK(panel.matrix.at({1, 0}) == Scalar(0.5));
  write_heat_maps(path, "", {{panel}});
  const Image image = decoded(path);
  CHECK(image.height == 24 + 52 + 22 + 2 * pitch + 1 + 24);  // margins, titles, labels, cells
  Panel without = panel;
  without.cells.clear();
  write_heat_maps(path, "", {{without}});
  const std::vector<Corner> second = cells(decoded(path), half);
  REQUIRE(second.size() == 2);
  CHECK(solid(decoded(path), second[0][0], second[0][1], half));
  CHECK_FALSE(solid(image, second[0][0], second[0][1], half));  // the same place, with a number in it
  without.cells = {"only one"};
  CHECK_THROWS_AS(write_heat_maps(path, "", {{without}}), ShapeError);
}

TEST_CASE("in a PNG a NaN is a white cell with a mark in it") {
  const Folder folder;
  const std::string path = output_file("show-test", "nan.png");
  const Scalar nan = std::numeric_limits<Scalar>::quiet_NaN();
  write_heat_maps(path, "", {{{"", Tensor::from({1, 2}, {1, nan}), {}, {}}}});
  const Image image = decoded(path);
  const std::vector<Corner> left = cells(image, one);
  REQUIRE(left.size() == 1);
  const int x = left[0][0] + pitch, y = left[0][1];
  CHECK(image.at(x, y) == white);
  CHECK(image.at(x + cell - 1, y + cell - 1) == white);
  CHECK_FALSE(solid(image, x, y, white));
}

TEST_CASE(
    "the same sheet gives the same bytes, a letter outside ASCII is a question mark, nothing is left beside") {
  const Folder folder;
  const std::string first = output_file("show-test", "first.png"),
                    second = output_file("show-test", "second.png");
  CHECK(first == "build/out/show-test/first.png");
  write_heat_maps(first, "caf\xc3\xa9", {{{"head 0", staircase(), {}, {}}}});
  write_heat_maps(second, "another title", {{{"head 0", staircase(), {}, {}}}});
  CHECK(bytes_of(first) != bytes_of(second));
  write_heat_maps(second, "caf?", {{{"head 0", staircase(), {}, {}}}});
  CHECK(bytes_of(first) == bytes_of(second));
  CHECK(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()) == 2);
}

TEST_CASE("a path that cannot be written is named, with the reason") {
  const Folder folder;
  const std::string file = output_file("show-test", "file");
  write_output(file, "in the way");
  const std::string advice = "\n  rule: missing folders are made, and a file is written whole or not at all"
                             "\n  hint: move what is in the way, or work in a folder you may write to";
  CHECK(
      message_of<FileError>([&] {
        write_heat_maps(file + "/map.png", "", {{{"", staircase(), {}, {}}}});
      }) ==
      "cannot write 'build/out/show-test/file/map.png': 'build/out/show-test/file' is a file, not a folder" +
          advice);
  CHECK(
      message_of<FileError>([&] { output_file("show-test/file", "map.png"); }) ==
      "cannot write 'build/out/show-test/file/map.png': 'build/out/show-test/file' is a file, not a folder" +
          advice);
  CHECK(message_of<FileError>([&] { write_output(folder.path, ""); }) ==
        "cannot write 'build/out/show-test': it is there and is not a plain file" + advice);
  CHECK(bytes_of(file) == "in the way");
}

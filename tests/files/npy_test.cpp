// The .npy reader: values of every dtype, the whole text of its errors, and any bytes at all.
#include <cstring>
#include <filesystem>
#include <fstream>

#include "catch.h"
#include "files/npy.h"

using namespace headway;

namespace {

const std::string path = "build/out/files-test/a.npy";

void write(const std::string& bytes) {
  std::filesystem::create_directories("build/out/files-test");
  std::ofstream(path, std::ios::binary) << bytes;
}

template <class Number>
std::string bytes_of(const std::vector<Number>& numbers) {
  std::string bytes(numbers.size() * sizeof(Number), '\0');
  if (!numbers.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

// What NumPy writes: magic, version, the header's length in 2 or 4 bytes, the header, the numbers.
std::string file(const std::string& header, const std::string& numbers, int version = 1) {
  std::string bytes = std::string("\x93NUMPY") + char(version) + '\0';
  size_t length = header.size();
  for (int i = 0; i < (version == 1 ? 2 : 4); i++, length /= 256) bytes += char(length % 256);
  return bytes + header + numbers;
}

std::string header(const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }          \n";
}

NpyArray read(const std::string& bytes) {
  write(bytes);
  return read_npy(path);
}

// The message of the FileError that a file ends in; empty if it is read.
std::string error_of(const std::string& bytes) {
  try {
    read(bytes);
  } catch (const FileError& error) { return error.what(); }
  return "";
}

std::string error(const std::string& what, const std::string& found, const std::string& expected,
                  const std::string& hint) {
  return "read_npy: " + what + "\n  file: " + path + "\n  found: " + found + "\n  expected: " + expected +
         "\n  hint: " + hint;
}

const std::string six = bytes_of<float>({1, 2, 3, 4, 5, 6});

}  // namespace

TEST_CASE("npy: the five dtypes are read") {
  const NpyArray f4 = read(file(header("<f4", "(2, 3)"), bytes_of<float>({1, -2, 0.5f, 3, 4, 5})));
  CHECK(f4.shape == Shape{2, 3});
  CHECK(f4.is_float());
  CHECK(f4.numbers == std::vector<double>{1, -2, 0.5, 3, 4, 5});
  CHECK(read(file(header("<f8", "(2,)"), bytes_of<double>({0.1, 1e300}))).numbers ==
        std::vector<double>{0.1, 1e300});
  const NpyArray i8 = read(file(header("<i8", "(1, 2)"), bytes_of<int64_t>({-1, int64_t(1) << 60})));
  CHECK_FALSE(i8.is_float());
  CHECK(i8.integers == std::vector<int64_t>{-1, int64_t(1) << 60});
  CHECK(read(file(header("<i4", "(2,)"), bytes_of<int32_t>({-7, 7}))).integers ==
        std::vector<int64_t>{-7, 7});
  CHECK(read(file(header("|b1", "(3,)"), std::string("\1\0\1", 3))).integers ==
        std::vector<int64_t>{1, 0, 1});
}

TEST_CASE("npy: an array becomes a tensor") {
  const Tensor x = read(file(header("<f4", "(2, 3)"), six)).tensor();
  CHECK(x.shape() == Shape{2, 3});
  CHECK(x.at({1, 0}) == 4);
  const Tensor ids = read(file(header("<i8", "(2,)"), bytes_of<int64_t>({3, 4}))).tensor();
  CHECK(ids.at({1}) == 4);
}

TEST_CASE("npy: a scalar, an empty array and the later formats are read") {
  CHECK(read(file(header("<f8", "()"), bytes_of<double>({2.5}))).tensor().item() == Scalar(2.5));
  CHECK(read(file(header("<f4", "(2, 0, 3)"), "")).shape == Shape{2, 0, 3});
  CHECK(read(file(header("<f4", "(6,)"), six, 2)).numbers[5] == 6);
  CHECK(read(file(header("<f4", "(3, 2)"), six, 3)).numbers[5] == 6);
  CHECK(read(file("{'shape': (6,), 'fortran_order': False, 'descr': '<f4'}", six)).shape == Shape{6});
}

TEST_CASE("npy: a file that is no .npy file is named as such") {
  CHECK(error_of("PK\3\4 a zip file") ==
        error("this is no .npy file", "first bytes PK?? a z", "first bytes ?NUMPY",
              "np.save(path, array) writes one; an .npz is a zip file of several"));
  CHECK(error_of("") == error("the file ends within its first 8 bytes", "0 bytes", "8 bytes",
                              "it was cut off, or it is no .npy file"));
  CHECK(error_of(file(header("<f4", "(6,)"), six, 9)) ==
        error("the format version is unknown", "9.0", "1.0, 2.0 or 3.0", "np.save writes 1.0"));
  std::filesystem::remove(path);
  const std::string missing = [] {
    try {
      read_npy(path);
    } catch (const FileError& e) { return std::string(e.what()); }
    return std::string();
  }();
  CHECK(missing ==
        error("the file cannot be read", "No such file or directory", "a file", "is the path right?"));
  CHECK_THROWS_AS(read_npy("build/out/files-test"), FileError);
}

TEST_CASE("npy: what the header asks for and is not supported is named") {
  CHECK(error_of(file(header(">f4", "(6,)"), six)) ==
        error("the numbers are of another type", "'>f4', 'fortran_order': False, 'shape': (6,), }          ?",
              "<f4, <f8, <i4, <i8 or |b1", "np.save(path, array.astype('<f4')) writes floats"));
  CHECK(error_of(file(header("<f4", "(2, 3)", "True"), six)) ==
        error("the numbers stand column by column", "True, 'shape': (2, 3), }          ?", "False",
              "np.save(path, np.ascontiguousarray(array)) writes them row by row"));
  CHECK(error_of(file("{'descr': '<f4', 'shape': (6,), }\n", six)) ==
        error("the header has no entry fortran_order", "{'descr': '<f4', 'shape': (6,), }?",
              "'descr', 'fortran_order' and 'shape'", "np.save writes all three"));
  CHECK(error_of(file(header("<f4", "(2, x)"), six)) ==
        error("the shape cannot be read", "(2, x), }          ?",
              "whole numbers in brackets: (2, 3), (4,) or ()", "np.save writes them like this"));
  CHECK_FALSE(error_of(file(header("<f4", "(-6,)"), six)).empty());
  CHECK_FALSE(error_of(file(header("<f4", "6"), six)).empty());
  CHECK_FALSE(error_of(file(header(", <", "(6,)"), six)).empty());
}

TEST_CASE("npy: a file cut off anywhere is an error") {
  const std::string whole = file(header("<f4", "(2, 3)"), six);
  for (size_t length = 0; length < whole.size(); length++)
    CHECK_FALSE(error_of(whole.substr(0, length)).empty());
  CHECK(error_of(whole).empty());
  CHECK(error_of(whole.substr(0, whole.size() - 4)) ==
        error("the length of the file does not fit the shape", "20 bytes after the header",
              "more, for [2, 3] of <f4, 4 bytes each", "the file was cut off: save or copy it again"));
  CHECK(error_of(whole + "12") == error("the length of the file does not fit the shape",
                                        "26 bytes after the header", "24, for [2, 3] of <f4, 4 bytes each",
                                        "a .npy file holds one array"));
}

TEST_CASE("npy: huge sizes are refused before memory is asked for") {
  const std::string hint = "the file was cut off: save or copy it again";
  CHECK(error_of(file(header("<f8", "(1000000, 1000000, 1000000)"), six)) ==
        error("the length of the file does not fit the shape", "24 bytes after the header",
              "more, for [1000000, 1000000, 1000000] of <f8, 8 bytes each", hint));
  // 2^33 * 2^31 numbers: the product is 0 in 64 bits.
  CHECK_FALSE(error_of(file(header("<f4", "(8589934592, 2147483648)"), "")).empty());
  CHECK_FALSE(error_of(file(header("<f4", "(99999999999999999999999,)"), six)).empty());
  CHECK(error_of(std::string("\x93NUMPY\2\0\xFF\xFF\xFF\xFF", 12)) ==
        error("the header is too long", "4294967295 bytes", "at most 65536",
              "only arrays of records need that much, and those are not read"));
  CHECK(error_of(std::string("\x93NUMPY\1\0\xFF\x7F", 10) + header("<f4", "(6,)")) ==
        error("the file ends within its header", "68 bytes", "32767 bytes",
              "it was cut off, or it is no .npy file"));
}

TEST_CASE("npy: a damaged file gives an array or a FileError") {
  const std::string whole = file(header("<f4", "(2, 3)"), six);
  Random random(1);
  int read_well = 0, refused = 0;
  for (int round = 0; round < 3000; round++) {
    std::string bytes = whole;
    for (int flips = 1 + random.below(3); flips > 0; flips--) {
      bytes[size_t(random.below(int(bytes.size())))] = char(random.below(256));
    }
    if (random.below(4) == 0) bytes.resize(size_t(random.below(int(bytes.size()))));
    try {
      const NpyArray array = read(bytes);
      REQUIRE(element_count(array.shape) == int64_t(array.numbers.size() + array.integers.size()));
      read_well++;
    } catch (const FileError&) { refused++; }
  }
  CHECK(read_well + refused == 3000);
  CHECK(read_well > 300);
  CHECK(refused > 300);
}

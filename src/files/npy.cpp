#include "files/npy.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

static_assert(std::endian::native == std::endian::little, "the numbers of a file are copied as they stand");

namespace headway {
namespace {

constexpr int64_t max_header = 1 << 16;  // NumPy writes 118 bytes, or a few more
constexpr std::string_view magic = "\x93NUMPY";
const std::string_view dtypes[] = {"<f4", "<f8", "<i4", "<i8", "|b1"};

// A file that is read once, from front to back.
struct File {
  std::string path;
  std::ifstream in;
  int64_t left;  // bytes

  [[noreturn]] void fail(const std::string& what, const std::string& found, const std::string& expected,
                         const std::string& hint) const {
    throw FileError(Message(text("read_npy: ", what))
                        .fact("file: " + path)
                        .fact("found: " + found)
                        .fact("expected: " + expected)
                        .hint(hint));
  }
  std::string take(int64_t count, const std::string& what) {
    std::string bytes(size_t(std::min(count, left)), '\0');
    in.read(bytes.data(), int64_t(bytes.size()));
    if (in.gcount() != count) {
      fail(text("the file ends within ", what), text(in.gcount(), " bytes"), text(count, " bytes"),
           "it was cut off, or it is no .npy file");
    }
    left -= count;
    return bytes;
  }
};

// At most 60 characters; what is not plain ASCII becomes '?'.
std::string printable(std::string_view bytes) {
  std::string out;
  for (char c : bytes.substr(0, 60)) out += c >= ' ' && c <= '~' ? c : '?';
  return out;
}

// What stands behind 'key': in the header.
std::string_view entry(const File& file, std::string_view header, const char* key) {
  const std::string quoted = text("'", key, "': ");
  const size_t at = header.find(quoted);
  if (at == std::string_view::npos) {
    file.fail(text("the header has no entry ", key), printable(header),
              "'descr', 'fortran_order' and 'shape'", "np.save writes all three");
  }
  return header.substr(at + quoted.size());
}

// (2, 3) and (4,) and (): digits, each number followed by a comma or the end.
Shape read_shape(const File& file, std::string_view tuple) {
  Shape shape;
  size_t i = 1;
  while (i < tuple.size() && tuple[0] == '(' && tuple[i] >= '0' && tuple[i] <= '9') {
    int64_t size = 0;
    for (; i < tuple.size() && tuple[i] >= '0' && tuple[i] <= '9'; i++) {
      size = std::min(size * 10 + (tuple[i] - '0'), int64_t(1) << 58);  // longer than any file
    }
    shape.push_back(size);
    for (const char* separator = ", "; *separator; separator++)
      i += i < tuple.size() && tuple[i] == *separator;
  }
  if (i < tuple.size() && tuple[0] == '(' && tuple[i] == ')') return shape;
  file.fail("the shape cannot be read", printable(tuple), "whole numbers in brackets: (2, 3), (4,) or ()",
            "np.save writes them like this");
}

// The bytes of the numbers. A product that outgrows the file stops there, before it can overflow.
int64_t expected_bytes(const File& file, const Shape& shape, const std::string& dtype) {
  const int64_t item = dtype[2] - '0';  // |b1 <f4 <i8: the digit counts bytes
  int64_t bytes = std::count(shape.begin(), shape.end(), 0) > 0 ? 0 : item;
  for (int64_t size : shape) {
    if (bytes == 0 || bytes > file.left) break;
    bytes = size > file.left / bytes ? file.left + 1 : bytes * size;
  }
  if (bytes != file.left) {
    file.fail("the length of the file does not fit the shape", text(file.left, " bytes after the header"),
              text(bytes > file.left ? "more" : std::to_string(bytes), ", for ", to_text(shape), " of ",
                   dtype, ", ", item, " bytes each"),
              bytes > file.left ? "the file was cut off: save or copy it again"
                                : "a .npy file holds one array");
  }
  return bytes;
}

// The text of the header.
std::string read_header(File& file) {
  const std::string start = file.take(8, "its first 8 bytes");
  if (start.substr(0, 6) != magic) {
    file.fail("this is no .npy file", "first bytes " + printable(start), "first bytes " + printable(magic),
              "np.save(path, array) writes one; an .npz is a zip file of several");
  }
  const int major = static_cast<unsigned char>(start[6]), minor = static_cast<unsigned char>(start[7]);
  if (major < 1 || major > 3 || minor != 0) {
    file.fail("the format version is unknown", text(major, ".", minor), "1.0, 2.0 or 3.0",
              "np.save writes 1.0");
  }
  const std::string digits = file.take(major == 1 ? 2 : 4, "the length of its header");
  int64_t length = 0;
  for (size_t i = digits.size(); i-- > 0;) length = length * 256 + static_cast<unsigned char>(digits[i]);
  if (length > max_header) {
    file.fail("the header is too long", text(length, " bytes"), text("at most ", max_header),
              "only arrays of records need that much, and those are not read");
  }
  return file.take(length, "its header");
}

template <class Stored, class Number>
void copy_numbers(const std::string& bytes, std::vector<Number>& to) {
  to.resize(bytes.size() / sizeof(Stored));
  for (size_t i = 0; i < to.size(); i++) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    to[i] = Number(stored);
  }
}

}  // namespace

Tensor NpyArray::tensor() const {
  std::vector<Scalar> values(numbers.begin(), numbers.end());
  values.insert(values.end(), integers.begin(), integers.end());
  return Tensor::from(shape, values);
}

NpyArray read_npy(const std::string& path) {
  std::error_code error;
  const auto length = std::filesystem::file_size(path, error);
  File file{path, std::ifstream(path, std::ios::binary), error ? 0 : int64_t(length)};
  if (error || !file.in)
    file.fail("the file cannot be read", error.message(), "a file", "is the path right?");

  const std::string header = read_header(file);
  NpyArray array;
  for (std::string_view dtype : dtypes) {
    if (entry(file, header, "descr").substr(0, 5) == text("'", dtype, "'")) array.dtype = dtype;
  }
  if (array.dtype.empty()) {
    file.fail("the numbers are of another type", printable(entry(file, header, "descr")),
              "<f4, <f8, <i4, <i8 or |b1", "np.save(path, array.astype('<f4')) writes floats");
  }
  if (entry(file, header, "fortran_order").substr(0, 5) != "False") {
    file.fail("the numbers stand column by column", printable(entry(file, header, "fortran_order")), "False",
              "np.save(path, np.ascontiguousarray(array)) writes them row by row");
  }
  array.shape = read_shape(file, entry(file, header, "shape"));
  const std::string bytes = file.take(expected_bytes(file, array.shape, array.dtype), "its numbers");
  if (array.dtype == "<f4") copy_numbers<float>(bytes, array.numbers);
  if (array.dtype == "<f8") copy_numbers<double>(bytes, array.numbers);
  if (array.dtype == "<i4") copy_numbers<int32_t>(bytes, array.integers);
  if (array.dtype == "<i8") copy_numbers<int64_t>(bytes, array.integers);
  if (array.dtype == "|b1") copy_numbers<unsigned char>(bytes, array.integers);
  return array;
}

}  // namespace headway

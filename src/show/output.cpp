#include "show/output.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "core/error.h"

namespace headway {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw FileError(Message(text("cannot write '", path, "': ", reason))
                      .rule("missing folders are made, and a file is written whole or not at all")
                      .hint("move what is in the way, or work in a folder you may write to"));
}

// Systems word the commonest reason differently, so it is looked for first: a file where a folder should be.
void make_folders(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  std::error_code error;
  fs::path so_far;
  for (const fs::path& part : folder) {
    so_far /= part;
    if (fs::exists(so_far, error) && !fs::is_directory(so_far, error)) {
      refuse(path, text("'", so_far.generic_string(), "' is a file, not a folder"));
    }
  }
  fs::create_directories(folder, error);  // an empty folder is the current one
  if (error && !folder.empty()) refuse(path, error.message());
}

}  // namespace

std::string output_file(const std::string& lesson, const std::string& file) {
  const std::string path = "build/out/" + lesson + "/" + file;
  make_folders(path);
  return path;
}

void write_output(const std::string& path, const std::string& bytes) {
  make_folders(path);
  const std::string unfinished = path + ".unfinished";
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) {
    refuse(path, "it is there and is not a plain file");
  }
  errno = 0;
  std::ofstream out(unfinished, std::ios::binary);
  out.write(bytes.data(), std::streamsize(bytes.size()));
  out.close();
  if (!out) {
    error.assign(errno, std::generic_category());
  } else {
    fs::rename(unfinished, path, error);
  }
  if (!out || error) {
    std::error_code ignored;
    fs::remove(unfinished, ignored);
    refuse(path, error.message());
  }
}

}  // namespace headway

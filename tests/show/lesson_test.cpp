// The frame of a lesson: settings are looked at first, tables have names, pictures go to the lesson's folder.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "catch.h"
#include "show/lesson.h"
#include "show/picture.h"
#include "show/table.h"

using namespace headway;

namespace {

// What `run` writes to file 1 (standard output) or 2 (standard error).
template <class Run>
std::string written(int file, const Run& run) {
  FILE* stream = file == 1 ? stdout : stderr;
  std::fflush(stream);
  FILE* kept = std::tmpfile();
  const int before = dup(file);
  dup2(fileno(kept), file);
  run();
  std::fflush(stream);
  dup2(before, file);
  close(before);
  std::rewind(kept);
  std::string out;
  for (int c; (c = std::fgetc(kept)) != EOF;) out += char(c);
  std::fclose(kept);
  return out;
}

int runs = 0;
void count_run() { runs++; }
const Setting seed = {"SEED", 0, 0, 9};

// With SEED and HEADS set to these, what a lesson that uses SEED alone says on standard error.
std::string complaint(const char* wish, const char* heads, int& status) {
  setenv("SEED", wish, 1);
  setenv("HEADS", heads, 1);
  std::string out = written(2, [&] { status = run_lesson(count_run, {seed}); });
  unsetenv("SEED");
  unsetenv("HEADS");
  return out;
}

}  // namespace

TEST_CASE("a bad setting is refused before the lesson begins") {
  int status = 0;
  runs = 0;
  CHECK(complaint("ten", "", status) == "SEED is 'ten', which does not do here\n"
                                        "  rule: SEED is a whole number from 0 to 9\n"
                                        "  hint: leave it out for 0\n");
  CHECK(status == 1);
  CHECK(runs == 0);
  complaint("10", "", status);
  CHECK(status == 1);
  complaint("9", "", status);
  CHECK(status == 0);
  CHECK(runs == 1);
}

TEST_CASE("a setting that a lesson does not use is named in one line") {
  int status = 0;
  CHECK(complaint("3", "4", status) == "note: HEADS=4 is set, but not used here\n");
  CHECK(status == 0);
}

TEST_CASE("a table has a column for every name, and ends in mean, smallest and largest") {
  const std::string table = written(1, [] {
    over_seeds(3, 2, {"a", "a long name"}, [](int s) { return std::vector<double>{s / 2.0, -s * 1.0}; });
  });
  CHECK(table == "  seed             a a long name\n"
                 "  3            1.500      -3.000\n"
                 "  4            2.000      -4.000\n"
                 "  mean         1.750      -3.500\n"
                 "  smallest     1.500      -4.000\n"
                 "  largest      2.000      -3.000\n");
}

TEST_CASE("a row of another width than the table is refused") {
  std::string message;
  written(1, [&] {
    try {
      Table("head", {"x", "y"}).row("0", {1});
    } catch (const ValueError& error) { message = error.what(); }
  });
  CHECK(message == "Table: row 0 has 1 numbers for 2 columns\n  rule: a row has one number for each column");
}

TEST_CASE("a refusal is shown line by line, and a refusal that does not come is an error") {
  const std::string shown =
      written(1, [] { show_refusal([] { throw ValueError(Message("no").rule("never")); }); });
  CHECK(shown == "  refused: no\n    rule: never\n");
  CHECK_THROWS_AS(show_refusal([] {}), ValueError);
}

TEST_CASE("rows that moved are marked, head by head") {
  const Tensor before = Tensor::zeros({2, 2, 3, 2});  // [B, h, T, d_h]
  Tensor after = Tensor::zeros({2, 2, 3, 2});         // [B, h, T, d_h]
  after.mutable_values()[12 + 2 * 1] = 1;             // item 1, head 0, row 1
  after.mutable_values()[12 + 6 + 2 * 2 + 1] = -1;    // item 1, head 1, row 2
  CHECK(written(1, [&] { print_moved("item 0", before, after); }) == "  item 0                ...   ...\n");
  CHECK(written(1, [&] { print_moved("item 1", before, after, 1); }) ==
        "  item 1                .*.   ..*\n");
}

namespace {
void draw() { show_picture("map.png", "a map", {{{"head 0", Tensor::zeros({2, 3})}}}); }
}  // namespace

TEST_CASE("a picture goes to the folder of the lesson that runs, and says so") {
  std::filesystem::remove("build/out/98-copy/map.png");
  const std::string shown = written(1, [] { run_lesson(draw, {}, "lessons/98-copy/lesson.cpp"); });
  CHECK(shown == "  picture: build/out/98-copy/map.png\n");
  CHECK(std::filesystem::file_size("build/out/98-copy/map.png") > 100);
}

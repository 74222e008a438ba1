// The region of the learner's file: what is compiled, what is reported, and which files are refused.
#include "course/region.h"

#include "catch.h"
#include "core/error.h"
#include "course/sandbox.h"

using namespace headway;

namespace {

const std::string lesson = "lessons/06-split";
const std::string path = "lessons/06-split/exercise.cpp";

const std::string spliced_stub = "\n#line 1 \"lessons/06-split/stub.cpp\"\n"
                                 "// Exercise 06-split: cut the columns.\n"
                                 "#include \"course/candidate.h\"\n"
                                 "namespace {\n"
                                 "// BEGIN exercise 06-split\n"
                                 "\n#line 5 \"lessons/06-split/exercise.cpp\"\n"
                                 "int split() { throw 1; }\n"
                                 "\n#line 6 \"lessons/06-split/stub.cpp\"\n"
                                 "// END\n"
                                 "const Candidate candidate(split);\n"
                                 "}  // namespace\n";

std::string report_of(const std::string& exercise) {
  write_output(path, exercise);
  return splice(lesson).report;
}

bool untouched_is(const std::string& exercise) {
  write_output(path, exercise);
  return untouched(lesson);
}

std::string refusal(const std::string& exercise) {
  write_output(path, exercise);
  return message_of<FileError>([&] { splice(lesson); });
}

std::string refused(const std::string& what) {
  return "region: lessons/06-split/exercise.cpp, " + what +
         "\n  rule: the lines '// BEGIN exercise ...' and, below, '// END' stand there once each"
         "\n  hint: make 06-reset gives the stub back and keeps your file";
}

std::string with_windows_ends(const std::string& lines) {
  std::string out = "\xEF\xBB\xBF";
  for (char c : lines) out += c == '\n' ? std::string("\r\n") : std::string(1, c);
  return out;
}

}  // namespace

TEST_CASE("a header that the region includes comes before the namespace as well") {
  const Sandbox sandbox;
  write_output(path, with(read_file(path, ""), "int split()", "  #include <cmath>\nint split()"));
  CHECK(splice(lesson).source == "\n#line 5 \"lessons/06-split/exercise.cpp\"\n  #include <cmath>\n" +
                                     with(spliced_stub, "int split()", "  #include <cmath>\nint split()"));
}

TEST_CASE("a header in a comment or behind a condition stays where it is") {
  const Sandbox sandbox;
  const auto spliced = [](const std::string& lines) {
    write_output(path, with(stub_text, "int split()", lines + "\nint split()"));
    return splice(lesson).source;
  };
  CHECK(spliced("/* not\n#include <map>\n*/").rfind("\n#line 1 ", 0) == 0);
  CHECK(spliced("#if 0\n#include <map>\n#endif").rfind("\n#line 1 ", 0) == 0);
  CHECK(spliced("// #include <map>").rfind("\n#line 1 ", 0) == 0);
  CHECK(spliced("#  include <map>")
            .rfind("\n#line 5 \"lessons/06-split/exercise.cpp\"\n#  include <map>\n", 0) == 0);
  CHECK(spliced("/* a */\n#include <map>").rfind("\n#line 6 ", 0) == 0);
}

TEST_CASE("the region of exercise.cpp is put into the stub, each line under its own file and number") {
  const Sandbox sandbox;
  CHECK(splice(lesson).source == spliced_stub);
  CHECK(splice(lesson).report == "");

  const std::string mine =
      "// my notes\n\n" + with(stub_text, "int split() { throw 1; }", "int two;\n\nint split();");
  write_output(path, mine);
  CHECK(
      splice(lesson).source ==
      with(with(spliced_stub, "int split() { throw 1; }", "int two;\n\nint split();"), "#line 5", "#line 7"));
  CHECK(read_file(path, "") == mine);  // the learner's file is not written
}

TEST_CASE("a region that ends in a backslash does not swallow the line below") {
  const Sandbox sandbox;
  write_output(path, with(stub_text, "int split() { throw 1; }", "int two;  // \\"));
  CHECK(splice(lesson).source == with(spliced_stub, "int split() { throw 1; }", "int two;  // \\"));
  CHECK(splice(lesson).source.find("// \\\n\n#line 6 \"lessons/06-split/stub.cpp\"\n") != std::string::npos);
}

TEST_CASE("Windows line ends, a byte order mark and a missing last line end change nothing") {
  const Sandbox sandbox;
  write_output(path, with_windows_ends(stub_text));
  CHECK(splice(lesson).source == spliced_stub);
  CHECK(splice(lesson).report == "");
  CHECK(untouched(lesson));
  write_output("lessons/06-split/stub.cpp", with_windows_ends(stub_text));
  write_output(path, stub_text.substr(0, stub_text.size() - 1));
  CHECK(splice(lesson).source == spliced_stub);
  CHECK(untouched(lesson));
}

TEST_CASE("text changed outside the region is reported, at most three lines") {
  const Sandbox sandbox;
  const std::string head =
      path + ": changed outside BEGIN and END, so not used (what is yours goes between them):\n";
  CHECK(report_of(with(stub_text, "columns.", "columns.  ")) == "");
  CHECK(report_of(with(stub_text, "namespace {", "\n\n  namespace {\t")) == "");
  CHECK(report_of(with(stub_text, "namespace {", "#include <list>\nnamespace {")) ==
        head + "  line 3: #include <list>\n");
  CHECK(report_of(with(stub_text, "(split)", "(cut)")) ==
        head + "  line 7: const Candidate candidate(cut);\n");
  CHECK(report_of(with(stub_text, "namespace {\n", "")) == head + "  line 3: gone: namespace {\n");
  CHECK(report_of(with(stub_text, "}  // namespace\n", "")) == head + "  line 7: gone: }  // namespace\n");
  CHECK(report_of("// a\n// b\n" + stub_text + "// c\n// d\n// e\n") ==
        head + "  line 1: // a\n  line 2: // b\n  line 11: // c\n  and 2 more\n");
  CHECK(report_of("// \x1B[31m caf\xC3\xA9 " + std::string(80, 'x') + "\n" + stub_text) ==
        head + "  line 1: // ?[31m caf?? " + std::string(63, 'x') + "..\n");
}

TEST_CASE("a region is untouched until its words change") {
  const Sandbox sandbox;
  CHECK(untouched(lesson));
  CHECK(untouched_is("// above\n" +
                     with(stub_text, "int split() { throw 1; }", "\n  int split() { throw 1; } \n")));
  CHECK_FALSE(untouched_is(with(stub_text, "throw 1;", "return 1;")));
  CHECK_FALSE(untouched_is(with(stub_text, "int split() { throw 1; }\n", "")));
}

TEST_CASE("markers that are missing, there twice, in the wrong order or of another lesson are refused") {
  const Sandbox sandbox;
  const std::string begin = "// BEGIN exercise 06-split\n", end = "// END\n";
  CHECK(refusal(with(stub_text, begin, "")) ==
        refused("line 7: the file ends without a line '// BEGIN exercise ...': put it back"));
  CHECK(refusal(with(stub_text, end, "")) ==
        refused("line 7: the file ends without a line '// END': put it back"));
  CHECK(refusal("") == refused("line 1: the file ends without a line '// BEGIN exercise ...': put it back"));
  CHECK(refusal(with(stub_text, begin, begin + begin)) ==
        refused("line 5: a second '// BEGIN exercise ...'; the first is line 4"));
  CHECK(refusal(stub_text + "  // END \n") == refused("line 9: a second '// END'; the first is line 6"));
  CHECK(refusal(end + with(stub_text, end, "")) ==
        refused("line 1: '// END' stands above '// BEGIN exercise ...', line 5"));
  CHECK(refusal(with(stub_text, begin, "// BEGIN exercise 07-attend\n")) ==
        refused(
            "line 4: this is '// BEGIN exercise 07-attend', but stub.cpp has '// BEGIN exercise 06-split'"));
  CHECK(report_of(with(stub_text, "throw 1;", "throw 1;  // END of it\n// END of it\n")) == "");
}

TEST_CASE("a file that is missing, or is a folder, is named with the way out") {
  const Sandbox sandbox;
  const std::string message = path + " cannot be read\n  hint: make 06-reset gives the stub back";
  std::filesystem::remove(path);
  CHECK(message_of<FileError>([] { splice(lesson); }) == message);
  CHECK(message_of<FileError>([] { untouched(lesson); }) == message);
  std::filesystem::create_directory(path);
  CHECK(message_of<FileError>([] { splice(lesson); }) == message);
  CHECK(message_of<FileError>([] { splice("lessons/04-attention"); }) ==
        "lessons/04-attention/stub.cpp cannot be read\n"
        "  hint: not every lesson has an exercise: make status shows which do");
  CHECK(message_of<FileError>([] { solution_region(lesson); }) ==
        "lessons/06-split/solution.cpp cannot be read\n"
        "  hint: the lesson has no exercise, or this is a hand-out, which comes without solutions");
}

TEST_CASE("a lesson copied to another directory works as it is") {
  const Sandbox sandbox;
  std::filesystem::copy(lesson, "lessons/21-mine");
  CHECK(splice("lessons/21-mine").report == "");
  CHECK(untouched("lessons/21-mine"));
  CHECK(splice("lessons/21-mine").source.find("#line 5 \"lessons/21-mine/exercise.cpp\"") !=
        std::string::npos);
  CHECK(make_command("lessons/21-mine", "-check") == "make 21-check");
  std::filesystem::remove("lessons/21-mine/exercise.cpp");
  CHECK(message_of<FileError>([] { splice("lessons/21-mine"); }) ==
        "lessons/21-mine/exercise.cpp cannot be read\n  hint: make 21-reset gives the stub back");
}

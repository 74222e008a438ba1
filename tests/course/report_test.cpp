// What a learner reads: Catch2's report, a sanitizer's report, a compiler's complaint, a comparison that
// fails.
#include "course/report.h"

#include <limits>

#include "catch.h"
#include "core/error.h"
#include "course/explain.h"
#include "course/program.h"
#include "course/tested.h"

using namespace headway;

TEST_CASE("test cases, points and the first failure are read from Catch2's XML, of version 2 and 3") {
  const std::vector<TestResult> results = read_report(R"(<?xml version="1.0" encoding="UTF-8"?>
<Catch name="judge">
  <Group name="judge">
    <TestCase name="a &lt;b&gt; &amp; &quot;c&quot;" tags="[one][points:2]" filename="check.cpp" line="3">
      <OverallResult success="true"/>
    </TestCase>
    <TestCase name="thrown" tags="[two][points:3]" filename="check.cpp" line="5">
      <Exception filename="check.cpp" line="5">
        call      f([2, 3], 1)
expected  1 2
got       2 1
      </Exception>
      <OverallResult success="false" skips="0"/>
    </TestCase>
    <TestCase name="compared" filename="check.cpp" line="7">
      <Expression success="true" type="CHECK" filename="check.cpp" line="8">
        <Original>
          one == 1
        </Original>
        <Expanded>
          1 == 1
        </Expanded>
      </Expression>
      <Expression success="false" type="CHECK" filename="check.cpp" line="9">
        <Original>
          two == 2
        </Original>
        <Expanded>
          3 == 2
        </Expanded>
      </Expression>
      <OverallResult success="false"/>
    </TestCase>
    <TestCase name="failed" tags="[points:1]" filename="check.cpp" line="7">
      <Failure filename="check.cpp" line="9">
        so be it
      </Failure>
      <OverallResult success="false"/>
    </TestCase>
    <TestCase name="ended in the middle" tags="[points:1]" filename="check.cpp" line="7">
)");
  REQUIRE(results.size() == 4);
  CHECK(results[0].name == "a <b> & \"c\"");
  CHECK(results[0].points == 2);
  CHECK(results[0].passed);
  CHECK(results[0].failure == "");
  CHECK_FALSE(results[1].passed);
  CHECK(results[1].points == 3);
  CHECK(results[1].failure == "call      f([2, 3], 1)\nexpected  1 2\ngot       2 1");
  CHECK(results[2].failure == "expected  two == 2\ngot       3 == 2");
  CHECK(results[2].points == 0);
  CHECK(results[3].failure == "so be it");
  CHECK(read_report("").empty());
}

TEST_CASE("the test cases of a check are counted in its source") {
  CHECK(declared_tests("\nTEST_CASE(\"a\") {\n}\n// TEST_CASE(\n\nTEST_CASE(\"b\") {}\n") == 2);
  CHECK(declared_tests("") == 0);
}

TEST_CASE("a sanitizer's report is told in words, with the line of the learner's file") {
  CHECK(sanitizer_fault("") == "");
  CHECK(sanitizer_fault("some words of the learner\n") == "");
  CHECK(sanitizer_fault("==1==ERROR: AddressSanitizer: SEGV on unknown address 0x00000000000c (pc 0x1)\n"
                        "    #0 0x1 in split lessons/06-split/exercise.cpp:13\n") ==
        "crashed   at an address that holds no memory\nat        lessons/06-split/exercise.cpp:13");
  CHECK(sanitizer_fault("==1==ERROR: AddressSanitizer: use-after-poison on address 0x1\n"
                        "    #0 0x1 in memcpy\n    #1 0x1 in split /home/me/lessons/a/exercise.cpp:7:3\n") ==
        "crashed   beyond the end of a tensor, or in one that is gone\nat        lessons/a/exercise.cpp:7");
  CHECK(sanitizer_fault("==1==ERROR: AddressSanitizer: requested allocation size 0x1 exceeds\n") ==
        "crashed   more than 256 MB of memory asked for at once");
  CHECK(sanitizer_fault("==1==AddressSanitizer: hard rss limit exhausted (512Mb vs 517Mb)\n") ==
        "crashed   more than 512 MB of memory in use");
  CHECK(sanitizer_fault(
            "a/exercise.cpp:9:5: runtime error: division by zero\n    #0 0x1 in b/exercise.cpp:1\n") ==
        "crashed   division by zero\nat        a/exercise.cpp:9");
  CHECK(sanitizer_fault(
            "/usr/include/c++/12/span:280: Assertion '__idx < size()' failed.\n"
            "==1==ERROR: AddressSanitizer: ABRT on unknown address\n    #1 0x1 in a/exercise.cpp:3\n") ==
        "crashed   an index beyond the end of a vector or span\nat        a/exercise.cpp:3");
}

TEST_CASE("a program that does not compile or link is explained") {
  const std::string warning = "lessons/a/exercise.cpp:3:1: warning: unused variable 'x'\n";
  CHECK_FALSE(build_failed(warning));
  CHECK(explain_build("lessons/a/exercise.cpp:3:1: warning: unused headway::Tensor 'x'\n") ==
        "lessons/a/exercise.cpp:3:1: warning: unused Tensor 'x'\n");
  CHECK(explain_build("") == "");
  CHECK(explain_build(
            "x.o: in function f:\nexercise.cpp:3: undefined reference to `headway::split_heads(headway::"
            "Tensor const&, long)'\ncollect2: error: ld returned 1 exit status\n") ==
        "split_heads is not linked into an exercise: only core is (core/tensor.h, core/ops.h, core/mask.h).\n"
        "What a lesson builds is yours to write; if it is a function of your own, its body is missing.\n");
  CHECK(
      explain_build("In file included from a:\n                 from b:\nexercise.cpp:3:1: error: no\n") ==
      "exercise.cpp:3:1: error: no\nThe exercise does not compile yet; the first error is the one to read.\n");
  CHECK(explain_build("exercise.cpp:3: undefined reference to `(anonymous namespace)::mine(int)'\n")
            .find("mine is not") == 0);
  CHECK(explain_build("lessons/a/exercise.cpp:3:1: error: 'merge_heads' was not declared in this scope\n")
            .find("merge_heads is not linked") == 0);
  CHECK(explain_build(
            "lessons/a/stub.cpp:27:48: error: 'split' was not declared in this scope\n1\n2\n3\n4\n") ==
        "lessons/a/stub.cpp:27:48: error: 'split' was not declared in this scope\n1\n2\n3\n4\n"
        "An error shows only behind END, in the text of the stub: is a } missing in your region, or was a\n"
        "function renamed, or its parameters changed?\n");
}

TEST_CASE("numbers that differ are shown with their place, row by row") {
  const Tensor wanted = Tensor::from({2, 1, 2}, {1, 2, 3, 4});
  const auto failure = [&](const Tensor& got) {
    return message_of<Failure>([&] { expect_equal(got, wanted, {"batch", "token", "number"}); });
  };
  CHECK(failure(wanted) == "nothing was thrown");
  CHECK(failure(Tensor::from({2, 1, 2}, {1, 2, 3, Scalar(4.00001)})) == "nothing was thrown");
  CHECK(failure(Tensor::from({2, 1, 2}, {1, 2, 3, Scalar(4.001)})) ==
        "where     batch 1, token 0, number 1\nexpected  3 4\ngot       3 4.001");
  CHECK(
      failure(Tensor::from({2, 1, 2}, {1, -std::numeric_limits<Scalar>::quiet_NaN(), 3, 4})) ==
      "where     batch 0, token 0, number 1\nexpected  1 2\ngot       1 nan\nnote      nan: 0 / 0, or += into a "
      "Tensor::uncleared: use Tensor::zeros");
  CHECK(failure(Tensor::from({1, 2, 2}, {1, 2, 3, 4})) ==
        "expected  shape [2, 1, 2]\ngot       shape [1, 2, 2]");
  const Tensor wide = Tensor::full({1, 20}, 1);
  Tensor other = Tensor::full({1, 20}, 1);
  other.mutable_values()[15] = 2;
  CHECK(message_of<Failure>([&] { expect_equal(other, wide, {"row"}); }) ==
        "where     row 0, axis 1 15\nexpected  .. 1 1 1 1 1 1 1 1\ngot       .. 1 1 1 2 1 1 1 1");
}

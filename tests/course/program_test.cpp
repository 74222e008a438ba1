// Programs that do not answer, and what is said of them. (tests/course.sh has the ones that need a
// sanitizer.)
#include "course/program.h"

#include <sys/stat.h>

#include <csignal>
#include <cstdlib>

#include "catch.h"
#include "course/sandbox.h"

using namespace headway;

namespace {

// What comes of asking a program that does this.
Outcome asked(const std::string& lines) {
  write_output("program", "#!/bin/sh\n" + lines + "\n");
  chmod("program", 0755);
  Program program("./program");
  return program.ask("request");
}

}  // namespace

TEST_CASE("a program that ends instead of answering") {
  const Sandbox sandbox;
  const Outcome outcome = asked("echo some words; echo others >&2; exit 3");
  CHECK(outcome.kind == Outcome::lost);
  CHECK(outcome.message == "ended     the program called exit (status 3) instead of returning a result");
  CHECK(outcome.printed == "some words\nothers\n");
  CHECK(asked("kill -USR1 $$").message.find("crashed   by signal ") == 0);
  CHECK(asked("kill -ALRM $$").message == "stopped   all calls together took more than 60 seconds");
}

TEST_CASE("a program that cannot be started is no fault of the learner's") {
  const Sandbox sandbox;
  Program missing("./no-such-program");
  CHECK(missing.ask("request").message ==
        std::string(set_up_is_broken) + "./no-such-program cannot be started");
  CHECK(missing.ask("request").message == "not asked: it cannot be started");
  CHECK(asked("echo \"Perhaps you're using ulimit -v\" >&2; kill -ABRT $$").message.find(set_up_is_broken) ==
        0);
}

TEST_CASE("a program whose answer is none") {
  const Sandbox sandbox;
  const std::string noise = "got       noise instead of a result: does it write to file 4?";
  CHECK(asked("printf 'All tests passed' >&4").message == noise);
  CHECK(asked("printf '\\001\\000\\000\\000\\000\\000\\000\\000x' >&4").message == noise);
  std::string right;
  put(right, Outcome{.shape = {1}, .numbers = {4}});
  const std::string length = "\\" + std::string(1, char('0' + right.size() / 64)) +
                             std::string(1, char('0' + right.size() / 8 % 8)) +
                             std::string(1, char('0' + right.size() % 8));
  const Outcome outcome =
      asked("printf '" + length + "\\000\\000\\000\\000\\000\\000\\000" + right + "' >&4");
  CHECK(outcome.kind == Outcome::value);
  CHECK(outcome.numbers == std::vector<Scalar>{4});
}

TEST_CASE("what a program starts is ended with it") {
  const Sandbox sandbox;
  const Outcome outcome = asked("sleep 60 & echo $!; exit 0");
  const pid_t child = pid_t(std::atoi(outcome.printed.c_str()));
  REQUIRE(child > 1);
  bool gone = false;  // a killed process may take a moment to go
  for (int i = 0; i < 500 && !gone; i++) {
    gone = kill(child, 0) != 0;
    usleep(10000);
  }
  CHECK(gone);
}

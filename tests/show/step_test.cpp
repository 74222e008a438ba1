// Step mode: what a lesson shows and waits for, key by key, and that without a terminal it never waits.
#include <fcntl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cstdlib>

#include "catch.h"
#include "show/lesson.h"

using namespace headway;

namespace {

const std::string keys_line = "  [Enter: go on   e, Enter: to the end   q, Enter: quit] ";

void two_steps() {
  step("one");
  look(Tensor::from({2, 2}, {0, 1, 2, -3}).named("q"));  // [T, d_h]
  std::printf("  first\n");
  step("two");
  std::printf("  second\n(the end)\n");
}

void wide_tensors() {
  look(Tensor::from({1, 9}, {0, 1, 2, 3, 4, 5, 6, 7, 9}).named("pattern"));  // [T, S]
  look(Tensor::from({2, 1, 9}, {0, 1, 2, 3, 4, 5, 6, 7, 9, 9, 0, 9, 0, 9, 0, 9, 0, 9})
           .named("two"));                                                  // [h, T, S]
  look(Tensor::from({1, 9}, {0, 1, 2, 3, 4, 5, 6, 7, -9}).named("signs"));  // [T, S]
  std::printf("(the end)\n");
}

// A pseudo-terminal that shows nothing of what is typed and turns no line end into two characters.
struct Terminal {
  int keyboard = posix_openpt(O_RDWR | O_NOCTTY);  // typed here, and read here what is shown
  int screen = -1;
  Terminal() {
    if (keyboard < 0 || grantpt(keyboard) != 0 || unlockpt(keyboard) != 0) return;
    screen = open(ptsname(keyboard), O_RDWR | O_NOCTTY);
    termios mode;
    if (screen < 0 || tcgetattr(screen, &mode) != 0) return;
    mode.c_lflag &= ~tcflag_t(ECHO);
    mode.c_oflag &= ~tcflag_t(OPOST);
    tcsetattr(screen, TCSANOW, &mode);
  }
  ~Terminal() {
    close(keyboard);
    close(screen);
  }
};

// All that can be read without waiting.
std::string read_all(int from) {
  fcntl(from, F_SETFL, O_NONBLOCK);
  std::string out;
  char part[1000];
  for (ssize_t n; (n = read(from, part, sizeof part)) > 0;) out.append(part, size_t(n));
  return out;
}

// What the lesson prints, and how it ends, when `typed` waits on its standard input.
std::string run(void (*lesson)(), const std::string& typed, const char* asked = "1", bool terminal_in = true,
                bool terminal_out = true) {
  Terminal terminal;
  if (terminal.screen < 0) return "no terminal here";
  int in[2], out[2];
  if (pipe(in) != 0 || pipe(out) != 0) return "no pipe here";
  if (write(terminal_in ? terminal.keyboard : in[1], typed.data(), typed.size()) < 0) return "nothing typed";
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);  // a lesson that waits for ever is ended by a signal
    dup2(terminal_in ? terminal.screen : in[0], 0);
    dup2(terminal_out ? terminal.screen : out[1], 1);
    setenv("PAUSE", asked, 1);
    const int ended = run_lesson(lesson);
    std::fflush(stdout);
    _exit(ended);
  }
  int status = 0;
  waitpid(child, &status, 0);
  const std::string shown = read_all(terminal_out ? terminal.keyboard : out[0]);
  for (int end : {in[0], in[1], out[0], out[1]}) close(end);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? shown : shown + "(ended badly)";
}

}  // namespace

TEST_CASE("step mode pauses before each step and at each tensor, and knows three keys") {
  const std::string look_at_q = "q  [2, 2]\n"
                                "   0.0000  1.0000\n"
                                "   2.0000 -3.0000\n";
  if (run(two_steps, "e\n") == "no terminal here") {
    WARN("not tried: this machine gives out no pseudo-terminal");
    return;
  }
  const std::string rest = "  first\n\n2. two\n  second\n(the end)\n";
  SECTION("Enter goes on") {
    CHECK(run(two_steps, "\n\n\n") == "1. one\n" + keys_line + look_at_q + keys_line + "  first\n\n2. two\n" +
                                          keys_line + "  second\n(the end)\n");
  }
  SECTION("e goes on to the end, without tensors") {
    CHECK(run(two_steps, "e\n") == "1. one\n" + keys_line + rest);
    CHECK(run(two_steps, "\ne\n") == "1. one\n" + keys_line + look_at_q + keys_line + rest);
  }
  SECTION("so does the end of the input") {
    CHECK(run(two_steps, "\x04") == "1. one\n" + keys_line + "\n" + rest);
  }
  SECTION("q quits") { CHECK(run(two_steps, "\nq\n") == "1. one\n" + keys_line + look_at_q + keys_line); }
  SECTION("anything else asks again") {
    CHECK(run(two_steps, "what?\ne\n") == "1. one\n" + keys_line + keys_line + rest);
  }
  SECTION("wide rows without signs are shown in shades") {
    CHECK(run(wide_tensors, "\n\n\n") == "pattern  [1, 9]\n"
                                         "  012345678\n"
                                         "0| .:-=+*#@|\n"
                                         "scale: 0 | .:-=+*#%@| 9.00\n" +
                                             keys_line +
                                             "two  [2, 1, 9]\n"
                                             "  matrix 0       matrix 1\n"
                                             "  012345678      012345678\n"
                                             "0| .:-=+*#@|   0|@ @ @ @ @|\n"
                                             "scale: 0 | .:-=+*#%@| 9.00\n" +
                                             keys_line +
                                             "signs  [1, 9]\n"
                                             "   0.0000  1.0000  2.0000  3.0000  4.0000  5.0000  6.0000 "
                                             " 7.0000 -9.0000\n" +
                                             keys_line + "(the end)\n");
  }
}

TEST_CASE("without a terminal, or unasked, a lesson never waits and shows no tensor") {
  const std::string plain = "1. one\n  first\n\n2. two\n  second\n(the end)\n";
  if (run(two_steps, "", "0") == "no terminal here") return;
  CHECK(run(two_steps, "", "0") == plain);
  CHECK(run(two_steps, "", "") == plain);
  CHECK(run(two_steps, "", "1", false, true) == plain);
  CHECK(run(two_steps, "", "1", true, false) == plain);
  CHECK(run(two_steps, "q\n", "1", false, false) == plain);
}

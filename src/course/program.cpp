#include "course/program.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "course/region.h"

namespace headway {

namespace {

constexpr int seconds_of_work = 3, seconds_of_waiting = 8;

// At `most` comes the signal that names the limit.
void limit(int what, rlim_t most) {
  const rlimit limits = {most, most + 1};
  setrlimit(what, &limits);
}

// Becomes the program; in the child process.
[[noreturn]] void become(const std::string& path, int requests, int answers) {
  const std::string printed = path + ".printed", errors = path + ".errors";
  const int out = open(printed.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
  const int err = open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  const int in = open("/dev/null", O_RDONLY);
  const int high[] = {fcntl(requests, F_DUPFD, 10),
                      fcntl(answers, F_DUPFD, 10)};  // out of the way of 3 and 4
  dup2(in, 0), dup2(out, 1), dup2(err, 2), dup2(high[0], 3), dup2(high[1], 4);
  for (int file = 5; file < 64; file++) close(file);
  setpgid(0, 0);
  limit(RLIMIT_CPU, seconds_of_work);
  limit(RLIMIT_FSIZE, 1 << 20);
  limit(RLIMIT_CORE, 0);
  setenv("ASAN_OPTIONS",
         "hard_rss_limit_mb=512:max_allocation_size_mb=256:allocator_may_return_null=0:detect_leaks=0:"
         "handle_abort=1:handle_segv=1:detect_stack_use_after_return=1",
         1);
  setenv("UBSAN_OPTIONS", "print_stacktrace=1", 1);
  setenv("THREADS", "1", 1);
  execl(path.c_str(), path.c_str(), static_cast<char*>(nullptr));
  _exit(127);
}

}  // namespace

Program::Program(std::string path) : path_(std::move(path)) {
  std::signal(SIGPIPE, SIG_IGN);  // a program that is gone is told by the failed write
  std::remove((path_ + ".printed").c_str());
}

Program::~Program() { end(); }

void Program::start() {
  int requests[2], answers[2];
  if (pipe(requests) != 0 || pipe(answers) != 0) throw ValueError("no pipe can be made");
  process_ = fork();
  if (process_ < 0) throw ValueError("no process can be started");
  if (process_ == 0) become(path_, requests[0], answers[1]);
  setpgid(process_, process_);
  close(requests[0]), close(answers[1]);
  to_ = requests[1], from_ = answers[0];
  fcntl(to_, F_SETFD, FD_CLOEXEC), fcntl(from_, F_SETFD, FD_CLOEXEC);
}

void Program::end() {
  if (process_ == 0) return;
  kill(-process_, SIGKILL);  // and whatever it started
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  process_ = 0;
  close(to_), close(from_);
}

std::string Program::reason_of_end() {
  int status = 0;
  bool ended = false;
  for (int i = 0; i < 100 && !ended; i++) {  // a dying process may need a moment for its report
    ended = waitpid(process_, &status, WNOHANG) == process_;
    if (!ended) usleep(10000);
  }
  end();
  const std::string fault = sanitizer_fault(content_of(path_ + ".errors"));
  if (!ended) {
    given_up_ = "in an earlier test it gave no answer in time";
    return text("stopped   there was no answer within ", seconds_of_waiting,
                " seconds: does it wait for something?");
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) {
    given_up_ = "in an earlier test it did not come to an end";
    return text("stopped   after ", seconds_of_work,
                " seconds of work without an answer: a loop that does not end?");
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ) {
    given_up_ = "in an earlier test it printed more than 1 MB";
    return "stopped   after it had printed 1 MB: printing in a loop that does not end?";
  }
  if (fault.find("512 MB") != std::string::npos) given_up_ = "in an earlier test it used too much memory";
  if (!fault.empty()) return fault;
  if (WIFSIGNALED(status)) return text("crashed   by signal ", WTERMSIG(status));
  return text("ended     the program called exit (status ", WEXITSTATUS(status),
              ") instead of returning a result");
}

Outcome Program::ask(const std::string& request) {
  if (!given_up_.empty()) return {.kind = Outcome::lost, .message = "not asked: " + given_up_};
  if (process_ == 0) start();
  try {
    std::string reply;
    if (!write_message(to_, request) || !read_message(from_, reply, seconds_of_waiting)) {
      return {.kind = Outcome::lost, .message = reason_of_end()};
    }
    Reader in(reply);
    return in.take<Outcome>();
  } catch (const ValueError&) {
    end();
    return {.kind = Outcome::lost,
            .message = "got       noise instead of a result: does it write to file 4?"};
  }
}

namespace {

// The first "exercise.cpp:LINE" behind `from`.
std::string line_of_exercise(const std::string& printed, size_t from) {
  const std::string name = "exercise.cpp:";
  const size_t found = printed.find(name, from);
  if (found == std::string::npos) return "";
  const size_t path = printed.find_last_of(" \n", found) + 1, in_project = printed.find("lessons/", path);
  const size_t start = in_project < found ? in_project : path;  // some compilers give the whole path
  const size_t stop = printed.find_first_not_of("0123456789", found + name.size());
  return printed.substr(start, stop - start);
}

}  // namespace

std::string sanitizer_fault(const std::string& printed) {
  // What a report says, and what it means to somebody who has never seen one.
  const std::pair<const char*, const char*> meanings[] = {
      {"allocation-size-too-big", "more than 256 MB of memory asked for at once"},
      {"requested allocation size", "more than 256 MB of memory asked for at once"},
      {"hard rss limit", "more than 512 MB of memory in use"},
      {"stack-overflow", "the stack is full: a function that calls itself without end?"},
      {"heap-buffer-overflow", "beyond the end of allocated memory"},
      {"use-after-poison", "beyond the end of a tensor, or in one that is gone"},
      {"heap-use-after-free", "in memory that was freed"},
      {"stack-buffer-overflow", "beyond the end of a local array"},
      {"SEGV", "at an address that holds no memory"},
      {"ABRT", "it called abort"},
      {"FPE", "a division of whole numbers by zero"}};
  const std::string by_compiler = "runtime error: ", by_library = "Assertion '",
                    by_sanitizer = "AddressSanitizer: ";
  size_t at = printed.find(by_compiler);
  std::string fault;
  if (at != std::string::npos) {
    fault = printed.substr(at + by_compiler.size());
    at = printed.rfind('\n', at) == std::string::npos ? 0 : printed.rfind('\n', at);
  } else if ((at = printed.find(by_library)) != std::string::npos) {
    fault = "index out of range: the library wants " + printed.substr(at + by_library.size());
    fault = fault.substr(0, fault.find('\''));
  } else if ((at = printed.find(by_sanitizer)) != std::string::npos) {
    fault = printed.substr(at + by_sanitizer.size());
    fault = fault.substr(0, fault.find(" on "));
    for (const auto& [word, meaning] : meanings) {
      if (fault.find(word) == 0) fault = meaning;
    }
  } else {
    return "";
  }
  const std::string line = line_of_exercise(printed, at);
  return "crashed   " + fault.substr(0, std::min<size_t>(fault.find('\n'), 90)) +
         (line.empty() ? "" : "\nat        " + line);
}

}  // namespace headway

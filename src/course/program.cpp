#include "course/program.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "course/region.h"

namespace headway {

namespace {

constexpr int seconds_of_work = 3, seconds_of_waiting = 8, seconds_in_all = 60;

// At `most` comes the signal that names the limit.
void limit(int what, rlim_t most) {
  const rlimit limits = {most, most + 1};
  setrlimit(what, &limits);
}

// Becomes the program; in the child process.
[[noreturn]] void become(const std::string& path, int requests, int answers) {
  const std::string printed = path + ".printed";
  const int out = open(printed.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666),
            in = open("/dev/null", O_RDONLY);
  const int high[] = {fcntl(requests, F_DUPFD, 10),
                      fcntl(answers, F_DUPFD, 10)};  // out of the way of 3 and 4
  dup2(in, 0), dup2(out, 1), dup2(out, 2), dup2(high[0], 3), dup2(high[1], 4);
  for (int file = 5; file < 64; file++) close(file);
  setpgid(0, 0);
  limit(RLIMIT_CPU, seconds_of_work);
  limit(RLIMIT_FSIZE, 1 << 20);
  limit(RLIMIT_CORE, 0);
  alarm(seconds_in_all);  // also when the judge is gone
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  const std::string log = "log_path='" + path + ".report':print_stacktrace=1";
  const std::string options = "hard_rss_limit_mb=512:max_allocation_size_mb=256:allocator_may_return_null=0:"
                              "detect_leaks=0:handle_abort=1:detect_stack_use_after_return=1:";
  setenv("ASAN_OPTIONS", (options + log).c_str(), 1);
  setenv("UBSAN_OPTIONS", log.c_str(), 1);
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
  std::remove(report().c_str());
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
  const std::string said = printed() + content_of(report()), fault = sanitizer_fault(said);
  end();
  if (!ended) {
    given_up_ = "in an earlier test it gave no answer in time";
    return text("stopped   there was no answer within ", seconds_of_waiting,
                " seconds: does it wait for something?");
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) {
    given_up_ = "in an earlier test it did not come to an end";
    return text("stopped   ", seconds_of_work, " seconds of work were not enough: a loop that does not end?");
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ) {
    given_up_ = "in an earlier test it printed more than 1 MB";
    return "stopped   it printed or wrote more than 1 MB: in a loop that does not end?";
  }
  const bool no_room =
      said.find("ulimit -v") != std::string::npos || said.find("Shadow memory") != std::string::npos;
  if (no_room || (WIFEXITED(status) && WEXITSTATUS(status) == 127)) {
    given_up_ = "it cannot be started";
    return std::string(set_up_is_broken) + path_ + " cannot be started" +
           (no_room ? ": the address sanitizer does not get the addresses it needs" : "");
  }
  if (fault.find("512 MB") != std::string::npos) given_up_ = "in an earlier test it used too much memory";
  if (!fault.empty()) return fault;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    given_up_ = "in an earlier test it had used up its time";
    return text("stopped   all calls together took more than ", seconds_in_all, " seconds");
  }
  if (WIFSIGNALED(status)) return text("crashed   by signal ", WTERMSIG(status));
  return text("ended     the program called exit (status ", WEXITSTATUS(status),
              ") instead of returning a result");
}

std::string Program::printed() const {
  const std::string all = content_of(path_ + ".printed");
  return all.substr(std::min(printed_before_, all.size()));
}

Outcome Program::answer_to(const std::string& request) {
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

Outcome Program::ask(const std::string& request) {
  if (!given_up_.empty()) return {.kind = Outcome::lost, .message = "not asked: " + given_up_};
  if (process_ == 0) start();
  printed_before_ = content_of(path_ + ".printed").size();
  const size_t before = content_of(report()).size();
  Outcome outcome = answer_to(request);
  outcome.printed = printed();
  if (outcome.kind == Outcome::refused) outcome.at = line_of_exercise(content_of(report()).substr(before));
  return outcome;
}

std::string line_of_exercise(const std::string& report) {
  const std::string name = "exercise.cpp:";
  const size_t found = report.find(name);
  if (found == std::string::npos) return "";
  const size_t path = report.find_last_of(" \n", found) + 1, in_project = report.find("lessons/", path);
  const size_t start = in_project < found ? in_project : path;  // some compilers give the whole path
  const size_t stop = report.find_first_not_of("0123456789", found + name.size());
  return report.substr(start, stop - start);
}

std::string sanitizer_fault(const std::string& report) {
  // What a report says, and what it means to somebody who has never seen one.
  const std::pair<const char*, const char*> meanings[] = {
      {"allocation-size-too-big", "more than 256 MB of memory asked for at once"},
      {"requested allocation size", "more than 256 MB of memory asked for at once"},
      {"hard rss limit", "more than 512 MB of memory in use"},
      {"stack-overflow", "the stack is full: a function that calls itself without end?"},
      {"heap-buffer-overflow", "beyond the end of allocated memory"},
      {"use-after-poison", "beyond the end of a tensor, or in one that is gone"},
      {"heap-use-after-free", "in memory that was freed"},
      {"attempting double-free", "memory that was freed is freed again"},
      {"stack-buffer-overflow", "beyond the end of a local array"},
      {"stack-use-after", "in a local variable that is gone"},
      {"SEGV", "at an address that holds no memory"},
      {"ABRT", "it called abort, or threw where nothing may be thrown"},
      {"FPE", "a division of whole numbers by zero"}};
  const std::string by_compiler = "runtime error: ", by_library = "Assertion '",
                    by_sanitizer = "AddressSanitizer: ";
  size_t at = report.find(by_compiler);
  std::string fault;
  if (at != std::string::npos) {
    fault = report.substr(at + by_compiler.size());
    at = report.rfind('\n', at) == std::string::npos ? 0 : report.rfind('\n', at);
  } else if ((at = report.find(by_library)) != std::string::npos) {
    fault = report.substr(at + by_library.size());
    fault = fault.substr(0, fault.find('\''));
    const bool index = fault.find("size()") != std::string::npos;
    fault = index ? "an index beyond the end of a vector or span" : "the standard library wants " + fault;
  } else if ((at = report.find(by_sanitizer)) != std::string::npos) {
    fault = report.substr(at + by_sanitizer.size());
    fault = fault.substr(0, fault.find(" on "));
    for (const auto& [word, meaning] : meanings) {
      if (fault.find(word) == 0) fault = meaning;
    }
  } else {
    return "";
  }
  const std::string line = line_of_exercise(report.substr(at));
  return "crashed   " + fault.substr(0, std::min<size_t>(fault.find('\n'), 90)) +
         (line.empty() ? "" : "\nat        " + line);
}

}  // namespace headway

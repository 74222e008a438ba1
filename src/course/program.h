// The learner's program, run at arm's length: in a process of its own, with limits, talked to over pipes.
#pragma once

#include <sys/types.h>

#include "course/wire.h"

namespace headway {

// It may use 3 seconds of processor time, 8 seconds of waiting for one answer, a minute in all, 512 MB of
// memory (the sanitizer watches that), 256 MB in one piece, and 1 MB of printing, all of which is kept in
// <path>.printed.
class Program {
public:
  explicit Program(std::string path);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // `lost`, with the reason in words for the learner, if no answer comes: it crashed, ended, took too long.
  // The program is started when first needed, and anew after a crash; after a limit it is not.
  Outcome ask(const std::string& request);

private:
  Outcome answer_to(const std::string& request);
  void start();
  void end();
  std::string reason_of_end();  // waits for the process
  std::string report() const { return path_ + ".report." + std::to_string(process_); }

  std::string printed() const;  // since the last request

  std::string path_, given_up_;
  size_t printed_before_ = 0;
  pid_t process_ = 0;  // 0: not running
  int to_ = -1, from_ = -1;
};

// How the message of an outcome begins that is no fault of the learner's.
inline const char* const set_up_is_broken = "set-up    ";

// What a sanitizer's report says, in one or two lines: the fault and the line of the learner's file. Empty if
// it holds no fault.
std::string sanitizer_fault(const std::string& report);

// The first line of exercise.cpp in a stack: "lessons/06-split/exercise.cpp:13"; empty if there is none.
std::string line_of_exercise(const std::string& report);

}  // namespace headway

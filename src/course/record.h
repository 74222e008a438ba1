// Who answered what: the transcript of a check, and the table of what the solution and every known mistake
// answer to the same requests. Both are files of one form, a line a call.
#pragma once

#include "course/wire.h"

namespace headway {

struct Record {
  std::string who, diagnosis;  // the diagnosis of a mistake; else empty
  int64_t request;             // a hash of the function's name and its arguments
  Outcome outcome;
};

int64_t hash_of(const std::string& request);

void append_record(const std::string& path, const Record& record);

// Empty for a file that is not there; FileError for one that is not of this form.
std::vector<Record> read_records(const std::string& path);

// Whether both are the same answer, as far as rounding lets one say: equal shapes, and numbers within 1e-4.
bool same_answer(const Outcome& a, const Outcome& b);

// The mistake that gave the learner's first wrong answer too, and has most of the others in common.
struct Likeness {
  const Record* mistake;  // null if there is none, or if the first wrong answer was none but an error
  bool in_all;            // every wrong answer is the mistake's
};
// `table` must hold the solution's answers, which say what is wrong.
Likeness find_mistake(const std::vector<Record>& learner, const std::vector<Record>& table);

}  // namespace headway

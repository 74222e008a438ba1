#include "course/record.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "course/region.h"

namespace headway {

int64_t hash_of(const std::string& request) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const char c : request) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return int64_t(hash);
}

void append_record(const std::string& path, const Record& record) {
  std::string line;
  put(line, record.who);
  put(line, record.diagnosis);
  put(line, record.request);
  put(line, record.outcome);
  std::ofstream file(path, std::ios::app | std::ios::binary);
  if (!(file << line << '\n').flush()) throw FileError("cannot write '" + path + "'");
}

std::vector<Record> read_records(const std::string& path) {
  const std::string content = content_of(path);
  std::vector<Record> records;
  try {
    for (Reader in(content); !in.at_end();) {
      const std::string who = in.take<std::string>(), diagnosis = in.take<std::string>();
      const int64_t request = in.take<int64_t>();
      records.push_back({who, diagnosis, request, in.take<Outcome>()});
    }
  } catch (const ValueError&) {
    throw FileError(
        Message("'" + path + "' is not a record of answers").hint("remove it: make writes it anew"));
  }
  return records;
}

bool same_answer(const Outcome& a, const Outcome& b) {
  if (a.kind != b.kind || a.shape != b.shape || a.numbers.size() != b.numbers.size()) return false;
  for (size_t i = 0; i < a.numbers.size(); i++) {
    const double x = double(a.numbers[i]), y = double(b.numbers[i]);
    const bool both_nan = std::isnan(x) && std::isnan(y);
    const bool near = std::isfinite(x) && std::abs(x - y) <= 1e-4 * std::max(1.0, std::abs(x));
    if (!both_nan && x != y && !near) return false;
  }
  return true;
}

namespace {

const Record* answer_of(const std::string& who, int64_t request, const std::vector<Record>& table) {
  for (const Record& record : table) {
    if (record.who == who && record.request == request) return &record;
  }
  return nullptr;
}

bool agrees(const Record& learner, const std::string& who, const std::vector<Record>& table) {
  const Record* other = answer_of(who, learner.request, table);
  return other && same_answer(learner.outcome, other->outcome);
}

}  // namespace

Likeness find_mistake(const std::vector<Record>& learner, const std::vector<Record>& table) {
  std::vector<const Record*> wrong;  // what is not written yet is no answer
  for (const Record& record : learner) {
    const Record* right = answer_of("solution", record.request, table);
    if (right && record.outcome.kind != Outcome::not_done && !same_answer(record.outcome, right->outcome)) {
      wrong.push_back(&record);
    }
  }
  if (wrong.empty() || wrong[0]->outcome.kind != Outcome::value) return {nullptr, false};
  Likeness best = {nullptr, false};
  int most = 0;
  for (const Record& mistake : table) {  // its record of the first wrong request stands for the mistake
    if (mistake.diagnosis.empty() || mistake.request != wrong[0]->request) continue;
    if (!same_answer(mistake.outcome, wrong[0]->outcome)) continue;
    int in_common = 0;
    for (const Record& record : learner) in_common += agrees(record, mistake.who, table);
    if (in_common <= most) continue;
    most = in_common;
    best = {&mistake, std::all_of(wrong.begin(), wrong.end(),
                                  [&](const Record* record) { return agrees(*record, mistake.who, table); })};
  }
  return best;
}

}  // namespace headway

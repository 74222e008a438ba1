// The table for people, the JSON for programs, and the line that says how long it still takes.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "bench/bench.h"
#include "core/print.h"

namespace headway::bench {

std::vector<double> ratios(const std::vector<double>& ours, const std::vector<double>& theirs) {
  std::vector<double> out;
  for (size_t i = 0; i < std::min(ours.size(), theirs.size()); i++) out.push_back(ours[i] / theirs[i]);
  return out;
}

double median(std::vector<double> values) {
  values.erase(std::remove_if(values.begin(), values.end(), [](double v) { return !std::isfinite(v); }),
               values.end());
  if (values.empty()) return none;
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

namespace {

std::string quoted(const std::string& words) {
  std::string out = "\"";
  for (char c : words) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}

std::string or_null(double value) { return std::isfinite(value) ? number(value, 4) : "null"; }
std::string or_blank(double value) { return std::isfinite(value) ? number(value, 2) : ""; }

std::string cpu() {
  const std::string found = run("sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo 2>/dev/null | head -n 1");
  return found.empty() ? "an unknown processor" : found.substr(0, found.find('\n'));
}

}  // namespace

void Report::add(const std::string& name, Better better, Goal goal, std::vector<double> pairs,
                 const std::string& figures) {
  pairs.erase(std::remove_if(pairs.begin(), pairs.end(), [](double v) { return !std::isfinite(v); }),
              pairs.end());
  if (pairs.empty()) return missing(name + ": no figure; one of its programs failed");
  rows_.push_back({name, better, goal, pairs, figures});
}

void Report::missing(const std::string& what) {
  if (std::find(missing_.begin(), missing_.end(), what) == missing_.end()) missing_.push_back(what);
}

bool Report::have_torch() {
  if (torch_ < 0) torch_ = !run("/usr/bin/python3 -c 'import torch; print(1)' 2>/dev/null").empty();
  if (!torch_) missing("PyTorch, and all ratios to it: apt-get install python3-torch");
  return torch_ > 0;
}

void Report::working(const std::string& what, double share) {
  if (!isatty(2) && said_) return;
  said_ = true;
  const double done = done_ + share * group_, since = now() - began_;
  // The guess made beforehand counts less and less, the time taken so far more and more.
  const double pace = (since + 30) / (done + 30);
  const std::string left = number(std::max(0.0, expected_ - done) * pace, 0);
  std::fprintf(stderr, isatty(2) ? "\r\033[K%s; about %s s left" : "%s; about %s s left\n", what.c_str(),
               left.c_str());
}

void Report::print() const {
  if (isatty(2)) std::fputs("\r\033[K", stderr);
  std::printf("\nOn %s, processors: %d.\n\n%s", cpu().c_str(), processors(), pages_.c_str());
  if (!rows_.empty())
    std::puts(
        "| measured (less is better, unless it says more) | median | smallest to largest | pairs | floor | target | in figures |\n"
        "| --- | --- | --- | --- | --- | --- | --- |");
  for (const Row& r : rows_) {
    const auto [least, most] = std::minmax_element(r.pairs.begin(), r.pairs.end());
    std::printf("| %s%s | %s | %s to %s | %zu | %s | %s | %s |\n", r.name.c_str(),
                r.better == Better::more ? " (more)" : "", number(median(r.pairs), 2).c_str(),
                number(*least, 2).c_str(), number(*most, 2).c_str(), r.pairs.size(),
                or_blank(r.goal.floor).c_str(), or_blank(r.goal.target).c_str(), r.figures.c_str());
  }
  if (!missing_.empty()) std::puts("\nNot measured:\n");
  for (const std::string& m : missing_) std::printf("- %s\n", m.c_str());
}

void Report::write_json(const char* path) const {
  std::string out = "{\"cpu\": " + quoted(cpu()) + ",\n \"rows\": [";
  for (const Row& r : rows_) {
    const auto [least, most] = std::minmax_element(r.pairs.begin(), r.pairs.end());
    out +=
        text(&r == rows_.data() ? "\n" : ",\n", "  {\"name\": ", quoted(r.name),
             ", \"value\": ", or_null(median(r.pairs)),
             ", \"better\": ", r.better == Better::less ? "\"less\"" : "\"more\"",
             ", \"floor\": ", or_null(r.goal.floor), ", \"target\": ", or_null(r.goal.target),
             ", \"pairs\": ", r.pairs.size(), ", \"spread\": [", or_null(*least), ", ", or_null(*most), "]}");
  }
  out += "\n ],\n \"missing\": [";
  for (const std::string& m : missing_) out += text(&m == missing_.data() ? "\n  " : ",\n  ", quoted(m));
  out += "\n ]}\n";
  FILE* file = std::fopen(path, "w");
  if (!file || std::fputs(out.c_str(), file) < 0 || std::fclose(file) != 0) {
    throw FileError(
        Message(text("bench: '", path, "' cannot be written")).hint("make bench is run from the root"));
  }
}

}  // namespace headway::bench

#include "course/tested.h"

#include <cmath>
#include <cstdlib>
#include <set>
#include <sstream>

#include "core/print.h"
#include "course/candidate.h"
#include "course/program.h"
#include "course/record.h"

namespace headway {

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// The last call, and what the function printed: the lines that every failure begins and ends with.
std::string called, printed;

// Behind the first line, each stands below the first word of it.
std::string indented(const std::string& lines) {
  std::string out;
  for (char c : lines) out += c == '\n' ? std::string("\n          ") : std::string(1, c);
  return out;
}

// `printed`, at most eight lines, up to where a sanitizer or the standard library reports.
std::string last_printed() {
  std::istringstream in(printed);
  std::string out;
  int lines = 0;
  for (std::string line; std::getline(in, line);) {
    const bool report = line.find("Assertion '") != std::string::npos ||
                        line.find("runtime error: ") != std::string::npos ||
                        line.find("AddressSanitizer") != std::string::npos;
    if (report) break;
    if (lines++ < 8) out += "\nprinted   " + line;
  }
  return lines > 8 ? out + text("\n          and ", lines - 8, " more lines") : out;
}

Outcome asked(const std::string& request) {
  static const std::string who = environment("HEADWAY_CANDIDATE");
  if (who.find('/') != std::string::npos) {
    static Program program(who);
    return program.ask(request);
  }
  for (const Candidate* candidate : candidates()) {
    if (candidate->name == who) return answer(*candidate, request);
  }
  throw ValueError(Message("the check does not know whom to ask: there is no candidate '" + who + "'")
                       .rule("HEADWAY_CANDIDATE is the name of a candidate or the path of a program"));
}

}  // namespace

std::string call_text(const std::string& function, const std::vector<std::string>& arguments) {
  std::string out;
  for (const std::string& argument : arguments) out += (out.empty() ? "" : ", ") + argument;
  return function + "(" + out + ")";
}

std::string argument_text(const std::vector<int>& x) {
  std::string out;
  for (int one : x) out += text(out.empty() ? "" : ", ", one);
  return "{" + out + "}";
}

Outcome ask(const std::string& request, const std::string& call) {
  static const std::string transcript = environment("HEADWAY_TRANSCRIPT"),
                           table = environment("HEADWAY_TABLE");
  const Outcome outcome = asked(request);
  called = "call      " + call + "\n";
  printed = outcome.printed;
  if (!transcript.empty()) append_record(transcript, {"learner", "", hash_of(request), outcome});
  static std::set<int64_t> in_table;
  if (!table.empty() && in_table.insert(hash_of(request)).second) {
    for (const Candidate* candidate : candidates()) {
      append_record(table,
                    {candidate->name, candidate->diagnosis, hash_of(request), answer(*candidate, request)});
    }
  }
  if (outcome.kind == Outcome::not_done) throw Failure(outcome.message);
  if (outcome.kind == Outcome::refused) {
    throw Refused(called + "expected  a result\ngot       an error: " + indented(outcome.message) +
                  (outcome.at.empty() ? "" : "\nat        " + outcome.at) + last_printed());
  }
  if (outcome.kind == Outcome::lost) throw Failure(called + outcome.message + last_printed());
  return outcome;
}

void refuse_result(const std::string& why) {
  throw Failure(called + "expected  an error: " + why + "\ngot       a result" + last_printed());
}

namespace {

// The numbers of the row that number i stands in: at most eight of them, those around i.
std::string row_around(std::span<const Scalar> values, int64_t i, int64_t width) {
  const int64_t start = i / width * width, from = std::max(start, std::min(i - 3, start + width - 8));
  const int64_t to = std::min(start + width, from + 8);
  std::string out = from > start ? ".. " : "";
  for (int64_t j = from; j < to; j++) {
    const Scalar x = values[size_t(j)];
    out = text(out, j > from ? " " : "", std::isnan(x) ? text("nan") : text(x));  // a NaN has no sign
  }
  return out + (to < start + width ? " .." : "");
}

// "batch 0, head 1, token 2, number 0"
std::string place(int64_t i, const Shape& shape, const std::vector<const char*>& axes) {
  std::string out;
  for (size_t a = shape.size(); a-- > 0;) {
    const std::string name = a < axes.size() ? axes[a] : text("axis ", a);
    out = text(name, " ", i % shape[a], out.empty() ? "" : ", ", out);
    i /= shape[a];
  }
  return out;
}

}  // namespace

void expect_equal(const Tensor& got, const Tensor& expected, const std::vector<const char*>& axes,
                  double tolerance) {
  if (got.shape() != expected.shape()) {
    throw Failure(called + "expected  shape " + to_text(expected.shape()) + "\ngot       shape " +
                  to_text(got.shape()) + last_printed());
  }
  for (int64_t i = 0; i < got.size(); i++) {
    const double wanted = double(expected.data()[i]), came = double(got.data()[i]);
    if (std::abs(came - wanted) <= tolerance * std::max(1.0, std::abs(wanted))) continue;
    const int64_t width = got.rank() == 0 ? 1 : got.dim(-1);
    const std::string note =
        std::isnan(came) ? "\nnote      nan: 0 / 0, or += into a Tensor::uncleared: use Tensor::zeros" : "";
    throw Failure(called + "where     " + place(i, got.shape(), axes) + "\nexpected  " +
                  row_around(expected.values(), i, width) + "\ngot       " +
                  row_around(got.values(), i, width) + note + last_printed());
  }
}

void expect_equal(const Allow& got, const Allow& expected, const std::vector<const char*>& axes) {
  expect_equal(result_of<Tensor>(outcome_of(got)), result_of<Tensor>(outcome_of(expected)), axes);
}

}  // namespace headway

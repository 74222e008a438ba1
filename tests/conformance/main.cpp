// conformance DIR [-v]: runs every case folder under DIR and compares our numbers with the stored ones.
// coverage.tsv, next to this file, says by operator and attributes what the project does, and why not the
// rest. Exit status: 0 nothing failed, 1 something failed, 2 no case found.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "case.h"

namespace conformance {

void Use::add_attributes(const Json& attributes) {
  for (size_t i = 0; i < attributes.keys.size(); i++) {
    const Json& json = attributes.items[i];
    const bool off = json.kind == Json::Kind::null || (json.kind == Json::Kind::boolean && !json.truth) ||
                     (json.kind == Json::Kind::number && json.value == 0);
    add(attributes.keys[i], !off);
  }
}

Tensor move_axis(const Tensor& x, int from, int to) {
  std::vector<int> axes;
  for (int i = 0; i < x.rank(); i++) axes.push_back(i);
  from = axis_index("move_axis", from, x);
  axes.erase(axes.begin() + from);
  axes.insert(axes.begin() + axis_index("move_axis", to, x), from);
  return permute(x, axes);
}

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Row {
  std::string op, condition, covered, reason;
};

std::vector<Row> read_coverage() {
  const std::filesystem::path path = std::filesystem::path(__FILE__).replace_filename("coverage.tsv");
  std::ifstream in(path);
  std::vector<Row> rows;
  std::string line;
  while (std::getline(in, line)) {
    std::istringstream cells(line);
    Row row;
    for (std::string* cell : {&row.op, &row.condition, &row.covered, &row.reason})
      std::getline(cells, *cell, '\t');
    rows.push_back(row);
  }
  if (rows.empty())
    throw FileError(Message(text("conformance: cannot read ", path.string())).hint("run make conformance"));
  return rows;
}

// Why a case is not covered; empty if it is. For each operator the first row that fits decides.
std::string why_not(const std::vector<Row>& rows, const std::vector<Use>& uses) {
  for (const Use& use : uses) {
    const Row* decides = nullptr;
    for (const Row& row : rows) {
      const bool fits =
          (row.op == use.op || row.op == "*") && (row.condition == "*" || use.with.count(row.condition));
      if (fits && !decides) decides = &row;
    }
    if (!decides) return use.op + ": not listed in coverage.tsv";
    if (decides->covered != "yes") return use.op + ": " + decides->reason;
  }
  return "";
}

// |got - want| as a part of the tolerance, which is passed at 1. NaN and infinities must be the same on both
// sides.
double error_of(double got, double want, double rtol, double atol) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return 0;
  const double error = std::fabs(got - want) / (atol + rtol * std::fabs(want));
  return std::isnan(error) ? infinity : error;
}

// A NaN is printed without the sign that some machines give it.
double unsigned_nan(double x) { return std::isnan(x) ? std::fabs(x) : x; }

// The worst element of a case so far.
struct Verdict {
  double error = -1;
  std::string detail;

  void see(double e, const std::string& what) {
    if (e > error) detail = what;
    error = std::max(error, e);
  }
};

// An array out_wrong_... is a usual mistake: ours must differ from it.
void compare(const std::string& name, const Tensor& ours, const NpyArray& theirs, double rtol, double atol,
             Verdict& verdict) {
  if (ours.shape() != theirs.shape) {
    return verdict.see(infinity,
                       text(name, " got shape ", to_text(ours.shape()), " want ", to_text(theirs.shape)));
  }
  const std::vector<double> integers(theirs.integers.begin(), theirs.integers.end());
  const std::vector<double>& want = theirs.is_float() ? theirs.numbers : integers;
  double worst = 0;
  size_t at = 0;
  for (size_t i = 0; i < want.size(); i++) {
    const double error = error_of(ours.values()[i], want[i], rtol, atol);
    if (error > worst) at = i;
    worst = std::max(worst, error);
  }
  if (name.find("out_wrong_") == 0)
    return verdict.see(worst > 1 ? 0 : infinity, name + " must differ from ours");
  if (want.empty()) return verdict.see(0, name + " is empty");
  char line[200];
  std::snprintf(line, sizeof line, "[%zu] got %.8g want %.8g, error %.3g of the tolerance", at,
                unsigned_nan(ours.values()[at]), unsigned_nan(want[at]), worst);
  verdict.see(worst, name + line);
}

Verdict judge(const Case& c) {
  Verdict verdict;
  const double rtol = c.is_torch() ? 1e-4 : c.json.at("rtol").number();
  const double atol = c.is_torch() ? 1e-5 : c.json.at("atol").number();
  const Results results = c.is_torch() ? run_torch(c) : run_onnx(c);
  for (const char* list : {"outputs", "grads"}) {
    if (!c.json.find(list)) continue;  // ONNX has no grads
    for (const Json& entry : c.json.at(list).items) {
      const std::string name = std::filesystem::path(entry.at("file").text()).stem().string();
      const auto ours = results.find(name);
      if (ours == results.end()) {
        verdict.see(infinity, name + " has no result");
      } else {
        compare(name, ours->second, c.read(entry), rtol, atol, verdict);
      }
    }
  }
  return verdict;
}

std::vector<std::string> case_folders(const std::string& directory) {
  std::vector<std::string> folders;
  std::error_code error;  // a folder that is not there has no cases
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory, error)) {
    if (entry.path().filename() == "case.json") folders.push_back(entry.path().parent_path().string());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

int run(const std::string& directory, bool verbose) {
  const std::vector<Row> rows = read_coverage();
  const std::vector<std::string> folders = case_folders(directory);
  std::map<std::string, int> reasons;
  int passed = 0, failed = 0, not_covered = 0;
  for (const std::string& folder : folders) {
    const std::string name = std::filesystem::path(folder).filename().string();
    Verdict verdict{infinity, ""};
    try {
      const Case c{folder, read_json(folder + "/case.json")};
      const std::string reason = why_not(rows, c.is_torch() ? torch_uses(c) : onnx_uses(c));
      if (!reason.empty()) {
        not_covered++;
        reasons[reason]++;
        if (verbose) std::printf("not covered  %s  %s\n", name.c_str(), reason.c_str());
        continue;
      }
      verdict = judge(c);
    } catch (const std::exception& error) { verdict.detail = error.what(); }
    const bool ok = verdict.error <= 1;
    (ok ? passed : failed)++;
    if (verbose || !ok)
      std::printf("%s  %s  %s\n", ok ? "passed     " : "FAILED     ", name.c_str(), verdict.detail.c_str());
  }
  for (const auto& [reason, count] : reasons) std::printf("not covered: %d  %s\n", count, reason.c_str());
  std::printf("%d passed, %d failed, %d not covered\n", passed, failed, not_covered);
  return folders.empty() ? 2 : failed > 0;
}

}  // namespace
}  // namespace conformance

int main(int argc, char** argv) {
  const bool verbose = argc == 3 && std::strcmp(argv[2], "-v") == 0;
  try {
    if (argc == 2 || verbose) return conformance::run(argv[1], verbose);
    std::printf("usage: conformance DIR [-v]\n");
  } catch (const std::exception& error) { std::printf("%s\n", error.what()); }
  return 2;
}

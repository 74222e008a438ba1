// Figures of PyTorch from data/torch_block.txt, which make_torch_figures.py has printed.
#pragma once

#include <fstream>
#include <map>
#include <sstream>

#include "catch.h"
#include "helpers.h"
#include "nn/module.h"

namespace headway {

// What the file promises: six digits.
constexpr double six_digits = sizeof(Scalar) == 8 ? 5e-6 : 2e-5;

struct Entry {
  Shape shape;
  std::vector<double> numbers;
};

inline std::map<std::string, Entry> read_figures() {
  std::map<std::string, Entry> figures;
  std::ifstream file("data/torch_block.txt");
  std::string line;
  Entry* entry = nullptr;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    words.imbue(std::locale::classic());
    if (line[0] == '#') continue;
    if (line[0] == '@') {  // @ name sizes, or @ d name sizes
      std::string at, name, of;
      words >> at >> name;
      if (name == "d") words >> of;
      entry = &figures[of.empty() ? name : name + " " + of];
      for (int64_t size; words >> size;) entry->shape.push_back(size);
    } else {
      for (double x; words >> x;) entry->numbers.push_back(x);
    }
  }
  return figures;
}

inline const Entry& figure(const std::string& name) {
  static const std::map<std::string, Entry> figures = read_figures();
  const auto found = figures.find(name);
  INFO(name << " in data/torch_block.txt, read from the folder above tests/");
  REQUIRE(found != figures.end());
  REQUIRE(element_count(found->second.shape) == int64_t(found->second.numbers.size()));
  return found->second;
}

inline Tensor tensor(const std::string& name) {
  const Entry& entry = figure(name);
  Tensor t = Tensor::zeros(entry.shape);
  assign(t, entry.numbers);
  return t;
}

inline std::vector<int> whole_numbers(const std::string& name) {
  const std::vector<double>& numbers = figure(name).numbers;
  return {numbers.begin(), numbers.end()};
}

inline void check(const Tensor& t, const std::string& name) {
  INFO(name);
  CHECK(t.shape() == figure(name).shape);
  CHECK(far_apart(t, figure(name).numbers, six_digits) == "");
}

inline void load(const Parameters& parameters, const std::string& prefix) {
  for (const Parameter& p : parameters) {
    CHECK(p.tensor.shape() == figure(prefix + "." + p.name).shape);
    assign(p.tensor, figure(prefix + "." + p.name).numbers);
    p.tensor.zero_grad();
  }
}

inline void check_gradients_of(const Parameters& parameters, const std::string& prefix) {
  for (const Parameter& p : parameters) check(p.tensor.grad(), "d " + prefix + "." + p.name);
}

// y against the file, then the gradients of sum(y * projection).
inline void check_results(const std::string& name, const Tensor& x, const Tensor& y,
                          const Parameters& parameters) {
  check(y, name + ".y");
  sum(y * tensor(name + ".projection")).backward();
  if (x.defined()) check(x.grad(), "d " + name + ".x");
  check_gradients_of(parameters, name);
}

inline std::vector<std::string> names(const Parameters& parameters) {
  std::vector<std::string> out;
  for (const Parameter& p : parameters) out.push_back(p.name);
  return out;
}

}  // namespace headway

#include "course/wire.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace headway {

namespace {

[[noreturn]] void refuse() { throw ValueError("the text does not hold what was asked for"); }

void put_number(std::string& out, Scalar x) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.9g ", double(x));  // nine digits tell all floats apart
  out += digits;
}

void put_shape(std::string& out, const Shape& shape) {
  put(out, int64_t(shape.size()));
  for (int64_t size : shape) put(out, size);
}

void put_numbers(std::string& out, std::span<const Scalar> values) {
  put(out, int64_t(values.size()));
  for (Scalar x : values) put_number(out, x);
}

}  // namespace

void put(std::string& out, int64_t x) { out += text(x, ' '); }

void put(std::string& out, const std::string& x) {
  put(out, int64_t(x.size()));
  out += x + ' ';
}

void put(std::string& out, const std::vector<int>& x) {
  put(out, int64_t(x.size()));
  for (int one : x) put(out, int64_t(one));
}

void put(std::string& out, const Tensor& x) {
  const std::span<const Scalar> values = x.values();  // before anything is appended: it may throw
  put_shape(out, x.shape());
  put_numbers(out, values);
}

void put(std::string& out, const Allow& x) {
  put_shape(out, x.shape());
  put(out, std::vector<int>(x.flags().begin(), x.flags().end()));
}

void put(std::string& out, const Outcome& x) {
  put(out, int64_t(x.kind));
  put_shape(out, x.shape);
  put_numbers(out, x.numbers);
  put(out, x.message);
}

void Reader::move_to(const char* end) {
  if (end == here() || *end != ' ') refuse();
  at_ = size_t(end - text_->c_str()) + 1;
}

bool Reader::at_end() {
  if (*here() == '\n') at_++;
  return at_ == text_->size();
}

template <>
int64_t Reader::take() {
  char* end = nullptr;
  const int64_t x = std::strtoll(here(), &end, 10);
  move_to(end);
  return x;
}

template <>
Scalar Reader::take() {
  char* end = nullptr;
  const Scalar x = Scalar(std::strtof(here(), &end));
  move_to(end);
  return x;
}

template <>
int Reader::take() {
  return int(take<int64_t>());
}

template <>
std::string Reader::take() {
  const int64_t count = take<int64_t>();
  if (count < 0 || size_t(count) >= text_->size() - at_) refuse();
  const std::string x = text_->substr(at_, size_t(count));
  at_ += size_t(count);
  if (*here() != ' ') refuse();
  at_++;
  return x;
}

template <class T>
std::vector<T> Reader::take_many() {
  const int64_t count = take<int64_t>();
  if (count < 0 || size_t(count) > text_->size() - at_) refuse();  // each takes two characters at least
  std::vector<T> values;
  for (int64_t i = 0; i < count; i++) values.push_back(take<T>());
  return values;
}

template <>
std::vector<int> Reader::take() {
  return take_many<int>();
}

template <>
Tensor Reader::take() {
  const Shape shape = take_many<int64_t>();
  return Tensor::from(shape, take_many<Scalar>());
}

template <>
Allow Reader::take() {
  const Shape shape = take_many<int64_t>();
  const std::vector<int> flags = take_many<int>();
  return Allow(shape, {flags.begin(), flags.end()});
}

template <>
Outcome Reader::take() {
  Outcome x;
  x.kind = Outcome::Kind(take<int64_t>());
  x.shape = take_many<int64_t>();
  x.numbers = take_many<Scalar>();
  x.message = take<std::string>();
  return x;
}

Outcome outcome_of(const Tensor& result) {
  if (!result.defined()) throw ValueError("the function returned a Tensor that was never given numbers");
  const std::span<const Scalar> values = result.values();
  return {.shape = result.shape(), .numbers = {values.begin(), values.end()}};
}

Outcome outcome_of(const Allow& result) {
  return {.shape = result.shape(), .numbers = {result.flags().begin(), result.flags().end()}};
}

template <>
Tensor result_of(const Outcome& outcome) {
  return Tensor::from(outcome.shape, outcome.numbers);
}

template <>
Allow result_of(const Outcome& outcome) {
  return Allow(outcome.shape, {outcome.numbers.begin(), outcome.numbers.end()});
}

bool write_message(int file, const std::string& text) {
  const uint64_t count = text.size();
  std::string all(sizeof count, '\0');
  std::memcpy(all.data(), &count, sizeof count);
  all += text;
  for (size_t done = 0; done < all.size();) {
    const ssize_t written = write(file, all.data() + done, all.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    done += size_t(written);
  }
  return true;
}

namespace {

using Clock = std::chrono::steady_clock;

bool read_all(int file, char* to, size_t count, Clock::time_point deadline) {
  for (size_t done = 0; done < count;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd ready = {file, POLLIN, 0};
    const int count_ready = left.count() <= 0 ? 0 : poll(&ready, 1, int(left.count()));
    if (count_ready < 0 && errno == EINTR) continue;
    if (count_ready <= 0) return false;
    const ssize_t got = read(file, to + done, count - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += size_t(got);
  }
  return true;
}

}  // namespace

bool read_message(int file, std::string& text, int seconds) {
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(seconds);
  const uint64_t most = uint64_t(1) << 24;  // more than any check asks for
  uint64_t count = 0;
  if (!read_all(file, reinterpret_cast<char*>(&count), sizeof count, deadline)) return false;
  if (count > most) refuse();
  text.resize(count);
  return read_all(file, text.data(), count, deadline);
}

}  // namespace headway

// The training loop: what it leaves behind, how it stops, accuracy, and what a reader may set.
#include "core/settings.h"
#include "tasks/fit.h"

#include <cstdlib>
#include <limits>
#include <thread>

#ifdef __linux__
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "catch.h"
#include "nn/helpers.h"
#include "nn/transformer.h"
#include "tasks/reader.h"

using namespace headway;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("accuracy counts only what is asked, and takes the first of equal logits") {
  const Tensor logits = Tensor::from({4, 3}, {0, 2, 1, 5, 5, 5, 1, 0, 0, 9, 0, 0});
  CHECK(accuracy(logits, {1, 0, 0, 0}) == 1);
  CHECK(accuracy(logits, {1, 2, no_answer, no_answer}) == 0.5);
  CHECK(accuracy(logits, {no_answer, no_answer, no_answer, 2}) == 0);
  CHECK(accuracy(logits, {no_answer, no_answer, no_answer, no_answer}) == 0);
}

TEST_CASE("after a training step only the parameters are left of the graph") {
  const int64_t before = live_nodes();
  Random random(3);
  const ReaderTask task = kback(2);
  const ReaderModel model(task, {.num_heads = 2}, random);
  const int64_t parameters = int64_t(model.parameters().size());
  CHECK(live_nodes() - before == parameters);
  int64_t bytes = 0;
  fit(model.parameters(), {.steps = 4}, [&](int step) {
    CHECK(live_nodes() - before == parameters);
    if (step == 2) bytes = pool_use().live_bytes;
    if (step == 3) CHECK(pool_use().live_bytes == bytes);
    const ReaderBatch batch = task.draw(task, 16, random);
    return cross_entropy(model.forward(batch.tokens).logits, batch.targets);
  });
  CHECK(live_nodes() - before == parameters);
}

TEST_CASE("10,000 training steps of a transformer take no more memory than the first few") {
  Random random(4);
  const Transformer model({.vocab_size = 5,
                           .context = 3,
                           .num_layers = 1,
                           .block = {.embed_dim = 4, .num_heads = 2, .mlp_dim = 8}},
                          random);
  int64_t live = 0, kept = 0;
  bool flat = true;
  fit(model.parameters(), {.steps = 10000, .lr = Scalar(1e-3)}, [&](int step) {
    const PoolUse use = pool_use();
    if (step == 5) live = use.live_bytes, kept = use.kept_bytes;
    if (step > 5) flat = flat && use.live_bytes == live && use.kept_bytes == kept;
    return cross_entropy(model({0, 1, 2, 3, 4, 0}, 2, 3), {1, 2, 3, 4, 0, 1});
  });
  CHECK(live > 0);
  CHECK(flat);
}

TEST_CASE("fit takes one Adam step a loss, at the rate of its schedule, and returns the last loss") {
  // A gradient that stays the same moves w by the rate at each step.
  for (bool decays : {false, true}) {
    const Tensor w = Tensor::from({1}, {0}).requires_grad();
    int steps = 0;
    const FitOptions options = {.steps = 5, .lr = Scalar(0.1), .cosine_decay = decays};
    const Scalar last = fit({{"w", w}}, options, [&](int step) {
      CHECK(step == steps++);
      return sum(scale(w, 3));
    });
    CHECK(steps == 5);
    // With decay the five factors lie around the middle of 1 and 0.05, the last being 0.05.
    const double whole = decays ? -0.1 * 5 * (1 + 0.05) / 2 : -0.5;
    CHECK(double(w.item()) == Approx(whole).epsilon(1e-5));
    CHECK(double(last) == Approx(3 * (whole + (decays ? 0.005 : 0.1))).epsilon(1e-5));
  }
  CHECK(fit({}, {.steps = 0}, [](int) { return Tensor::full({}, 7); }) == 0);
}

TEST_CASE("a NaN loss stops the training and names the op that made it") {
  const Tensor w = Tensor::from({2}, {1, Scalar(0.05)}).named("w").requires_grad();
  int steps = 0;
  const std::string message = message_of<ValueError>([&] {
    fit({{"w", w}}, {.steps = 100, .lr = Scalar(0.1)}, [&](int step) {  // the second step goes below 0
      steps = step + 1;
      return sum(log(w));
    });
  });
  CHECK(steps == 2);
  CHECK(message ==
        "log made the first NaN, at position 1 of its result\n"
        "  result = log  [2]\n"
        "  input = w  [2]\n"
        "  rule: no input was NaN, the result is\n"
        "  hint: look for inf - inf, 0 / 0, the log or sqrt of a negative number, or a learning rate that is "
        "too high");

  const Scalar nan = std::numeric_limits<Scalar>::quiet_NaN();
  CHECK(message_of<ValueError>([&] {  // no op made this one
          fit({{"w", w}}, {.steps = 9}, [&](int step) { return Tensor::full({}, step < 0 ? 0 : nan); });
        }) == "the loss is nan at step 0\n"
              "  rule: a loss is a finite number\n"
              "  hint: lower the learning rate, or look for log(0) and 0 / 0 in the model");
}

TEST_CASE("a learning rate that is much too high is stopped as well") {
  Random random(4);
  const ReaderTask task = kback(2);
  const ReaderModel model(task, {}, random);
  const Scalar rate = std::sqrt(std::numeric_limits<Scalar>::max()) * 10;  // 1.8e20 in float
  const std::string message = message_of<ValueError>([&] {
    fit(model.parameters(), {.steps = 20, .lr = rate}, [&](int) {
      const ReaderBatch batch = task.draw(task, 16, random);
      return cross_entropy(model.forward(batch.tokens).logits, batch.targets);
    });
  });
  CHECK(contains(message, " made the first NaN, at position "));
  CHECK(contains(message, "a learning rate that is too high"));
}

TEST_CASE("SEED and STEPS are read from the environment, and a bad value is refused by name") {
  const auto with = [](const char* name, const char* value) {
    setenv(name, value, 1);
    std::string result;
    try {
      result = std::to_string(Setting{name, 300, 1, 5000}.value());
    } catch (const ValueError& error) { result = error.what(); }
    unsetenv(name);
    return result;
  };
  unsetenv("SEED");
  unsetenv("STEPS");
  CHECK(Setting{"STEPS", 300, 1, 5000}.value() == 300);
  CHECK(with("STEPS", "") == "300");
  CHECK(with("STEPS", "1") == "1");
  CHECK(with("STEPS", "5000") == "5000");
  CHECK(with("SEED", "0042") == "42");
  for (const char* bad : {"0", "-7", "5001", "many", "7x", "1.5", "1e3", "99999999999999999999"}) {
    for (const char* name : {"STEPS", "SEED"}) {
      CHECK(with(name, bad) == text(name, " is '", bad, "', which does not do here\n", "  rule: ", name,
                                    " is a whole number from 1 to 5000\n", "  hint: leave it out for 300"));
    }
  }
}

#ifdef __linux__
namespace {

// What a training that lasts 1.2 s writes to its standard error: a terminal, or a pipe.
std::string progress_on(bool terminal) {
  int ends[2] = {-1, -1};  // read here, written there
  if (terminal) {
    ends[0] = posix_openpt(O_RDWR | O_NOCTTY);
    if (ends[0] < 0 || grantpt(ends[0]) != 0 || unlockpt(ends[0]) != 0) return "no terminal here";
    ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY);
  } else if (pipe(ends) != 0) {
    return "no pipe here";
  }
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 2);
    {
      Progress progress("training", 10);
      progress.show(0, 1);  // too early
      std::this_thread::sleep_for(std::chrono::milliseconds(1200));
      progress.show(4, Scalar(0.5));
    }
    std::fflush(stderr);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  char text[1000];
  const ssize_t length = read(ends[0], text, sizeof text);
  close(ends[0]);
  close(ends[1]);
  return std::string(text, size_t(std::max<ssize_t>(0, length)));
}

}  // namespace

TEST_CASE("a training shows its progress on a terminal, wipes it at the end, and is silent in a pipe") {
  CHECK(progress_on(false) == "");
  const std::string shown = progress_on(true);
  if (shown == "no terminal here") {
    WARN("not tried: this machine gives out no pseudo-terminal");
    return;
  }
  // Between these stand the speed and the time left, which depend on the machine.
  const std::string begins = "\r\033[Ktraining: step 5 of 10, loss 0.500, ", ends = " s left\r\033[K";
  CHECK(shown.substr(0, begins.size()) == begins);
  CHECK(shown.substr(std::max(shown.size(), ends.size()) - ends.size()) == ends);
  CHECK(contains(shown, " steps/s, "));
}
#endif

TEST_CASE("accuracy wants a target for each row, and a row with a NaN names nothing") {
  const Scalar nan = std::numeric_limits<Scalar>::quiet_NaN();
  const Tensor logits = Tensor::from({3, 2}, {nan, 1, 2, nan, 3, 1}).named("logits");  // [rows, V]
  CHECK(accuracy(logits, {0, 0, 0}) == Approx(1.0 / 3));
  CHECK(accuracy(logits, {1, 1, 0}) == Approx(1.0 / 3));
  for (const std::vector<int>& targets : {std::vector<int>(4, 0), std::vector<int>(2, 0)}) {
    CHECK(message_of<ShapeError>([&] { accuracy(logits, targets); }) ==
          text("accuracy: ", targets.size(), " targets for 3 rows of logits\n", "  logits  [3, 2]\n",
               "  rule: one target for each row; -100 where nothing is asked"));
  }
}

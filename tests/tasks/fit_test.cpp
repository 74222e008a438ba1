// The training loop: what it leaves behind, how it stops, accuracy, and what a reader may set.
#include "tasks/fit.h"

#include <cstdlib>
#include <limits>

#include "catch.h"
#include "nn/helpers.h"
#include "tasks/reader.h"
#include "tasks/settings.h"

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
      result = std::to_string(setting(name, 300, 1, 5000));
    } catch (const ValueError& error) { result = error.what(); }
    unsetenv(name);
    return result;
  };
  unsetenv("SEED");
  unsetenv("STEPS");
  CHECK(setting("STEPS", 300, 1, 5000) == 300);
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

// Greedy decoding with a cache of keys and values, one sequence: a prompt of 16 tokens, 64 new ones. The time
// counts the prompt in.
#include <cstdio>

#include "bench/bench.h"
#include "core/parallel.h"
#include "nn/generate.h"

namespace headway::bench {

int decode_child(const std::string& config, int threads) {
  constexpr int prompt_length = 16, new_tokens = 64;
  set_thread_count(threads);
  const Config& c = config_named(config);
  const Transformer model = make_model(c, std::max<int64_t>(c.T, prompt_length + new_tokens));
  const std::vector<int> prompt = random_tokens(c, prompt_length, 5);
  const double seconds = best_seconds([&] { generate(model, prompt, 1, new_tokens); }, 3);
  std::printf("name=greedy_decoding,_%s ms_per_token=%.5f\n", c.name, seconds * 1e3 / new_tokens);
  return 0;
}

void decode_group(Report& report, int pairs) {
  if (!report.have_torch()) return;
  const std::string script = "/usr/bin/python3 tests/bench/torch_decode.py ";
  compare_lines(report, pairs, own_child("decode small 1") + " && " + own_child("decode medium 1"),
                script + "small 1 && " + script + "medium 1", "ms_per_token",
                {{"greedy decoding, small", {0.20, 0.05}}, {"greedy decoding, medium", {0.60, 0.35}}});
}

}  // namespace headway::bench

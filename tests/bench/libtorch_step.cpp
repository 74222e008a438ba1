// The training step of torch_step.py (composed attention) in libtorch: libtorch_step CONFIG THREADS STEPS
// It shows how much of PyTorch's time is Python: little. Built by make where libtorch is installed.
#include <torch/torch.h>

#include <dlfcn.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

namespace nn = torch::nn;
using torch::Tensor;

struct Config {
  const char* name;
  int64_t V, T, d, h, L, B;
};
const Config configs[] = {
    {"tiny", 32, 16, 32, 4, 1, 32}, {"small", 64, 64, 64, 4, 2, 32}, {"medium", 65, 256, 384, 6, 6, 8}};

struct BlockImpl : nn::Module {
  explicit BlockImpl(const Config& config)
      : c(config), norm1(nn::LayerNormOptions({c.d})), norm2(nn::LayerNormOptions({c.d})), qkv(c.d, 3 * c.d),
        out(c.d, c.d), linear1(c.d, 4 * c.d), linear2(4 * c.d, c.d) {
    register_module("norm1", norm1);
    register_module("norm2", norm2);
    register_module("qkv", qkv);
    register_module("out", out);
    register_module("linear1", linear1);
    register_module("linear2", linear2);
  }

  Tensor forward(Tensor x, const Tensor& hidden) {
    const int64_t d_h = c.d / c.h;
    const Tensor heads = qkv(norm1(x)).view({c.B, c.T, 3, c.h, d_h}).permute({2, 0, 3, 1, 4});
    const Tensor scores = heads[0].matmul(heads[1].transpose(-2, -1)) / std::sqrt(double(d_h));
    const Tensor pattern = scores.masked_fill(hidden, -INFINITY).softmax(-1);  // [B, h, T, T]
    x = x + out(pattern.matmul(heads[2]).transpose(1, 2).reshape({c.B, c.T, c.d}));
    return x + linear2(torch::gelu(linear1(norm2(x)), "tanh"));
  }

  Config c;
  nn::LayerNorm norm1, norm2;
  nn::Linear qkv, out, linear1, linear2;
};
TORCH_MODULE(Block);

struct Transformer : nn::Module {
  explicit Transformer(const Config& c)
      : tok(c.V, c.d), pos(c.T, c.d), norm(nn::LayerNormOptions({c.d})),
        head(nn::LinearOptions(c.d, c.V).bias(false)), hidden(torch::ones({c.T, c.T}, torch::kBool).triu(1)) {
    register_module("tok", tok);
    register_module("pos", pos);
    for (int64_t i = 0; i < c.L; i++)
      blocks.push_back(register_module("block" + std::to_string(i), Block(c)));
    register_module("norm", norm);
    register_module("head", head);
  }

  Tensor forward(const Tensor& tokens) {
    Tensor x = tok(tokens) + pos->weight;  // [B, T, d]
    for (Block& block : blocks) x = block(x, hidden);
    return head(norm(x));  // [B, T, V]
  }

  nn::Embedding tok, pos;
  std::vector<Block> blocks;
  nn::LayerNorm norm;
  nn::Linear head;
  Tensor hidden;  // the future of each token
};

}  // namespace

int main(int argc, char** argv) {
  const Config* c = std::find_if(std::begin(configs), std::end(configs), [&](const Config& one) {
    return argc == 4 && one.name == std::string(argv[1]);
  });
  if (c == std::end(configs)) return std::fputs("libtorch_step CONFIG THREADS STEPS\n", stderr), 2;
  const int threads = std::atoi(argv[2]), steps = std::atoi(argv[3]);
  at::set_num_threads(threads);
  // The BLAS below has threads of its own.
  const auto blas_threads = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  if (blas_threads) blas_threads(threads);

  torch::manual_seed(1);
  Transformer model(*c);
  torch::optim::AdamW adamw(model.parameters(), torch::optim::AdamWOptions(3e-4).weight_decay(0.01));
  const Tensor tokens = torch::randint(c->V, {c->B, c->T}, torch::kLong);
  const Tensor targets = torch::randint(c->V, {c->B * c->T}, torch::kLong);
  std::vector<double> ms;
  double loss_value = 0;
  for (int i = -(steps / 10 + 1); i < steps; i++) {
    const auto began = std::chrono::steady_clock::now();
    const Tensor loss = nn::functional::cross_entropy(model.forward(tokens).view({-1, c->V}), targets);
    for (Tensor& p : model.parameters()) p.mutable_grad() = Tensor();
    loss.backward();
    adamw.step();
    loss_value = loss.item<double>();
    const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - began;
    if (i >= 0) ms.push_back(taken.count());
  }
  std::sort(ms.begin(), ms.end());
  rusage use = {};
  getrusage(RUSAGE_SELF, &use);
  std::printf("name=libtorch ms_per_step=%.4f min_ms=%.4f peak_rss_mb=%.1f loss=%.4f\n",
              (ms[(ms.size() - 1) / 2] + ms[ms.size() / 2]) / 2, ms[0], double(use.ru_maxrss) / 1024,
              loss_value);
}

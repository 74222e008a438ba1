// The matrix kernel beside OpenBLAS, in one process, one thread each, burst by burst.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "bench/bench.h"
#include "core/kernels.h"
#include "core/parallel.h"
#include "core/print.h"

namespace headway::bench {

namespace {

// cblas_sgemm, as OpenBLAS exports it; found at run time, so nothing depends on it.
using Sgemm = void (*)(int order, int a_turned, int b_turned, int M, int N, int K, float alpha,
                       const float* a, int a_row, const float* b, int b_row, float beta, float* c, int c_row);
constexpr int row_major = 101, as_it_lies = 111, turned = 112;

struct Blas {
  Sgemm sgemm = nullptr;
  std::string kernel;  // the one it chose for this processor
};

Blas open_blas() {
  setenv("OPENBLAS_NUM_THREADS", "1", 1);  // before it is loaded and starts its threads
  void* library = dlopen("libopenblas.so.0", RTLD_NOW);
  if (!library) return {};
  const auto name = reinterpret_cast<char* (*)()>(dlsym(library, "openblas_get_corename"));
  return {reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm")), name ? name() : "unknown"};
}

constexpr Goal large = {0.80, 0.92}, little = {1.0, 1.3};

// c [M, N] = or += a b, `count` times with operands of their own. A turned operand lies in memory the other
// way round.
struct Product {
  std::string name;
  int64_t M, N, K;
  bool a_turned, b_turned, add;
  int64_t count;
  Goal goal;
};

// The products of the targets, as the engine asks for them.
std::vector<Product> products() {
  std::vector<Product> all;
  for (int64_t n : {32, 64, 256, 512, 1024})
    all.push_back({text("square ", n), n, n, n, false, false, false, 1, n <= 64 ? little : large});
  const int64_t rows = 2048, layers[][2] = {{384, 384}, {384, 1536}, {1536, 384}, {384, 65}};
  for (const auto& [in, out] : layers) {  // medium's: q, k, v and out; the two of the MLP; the head
    const std::string layer = text("layer ", in, " to ", out);
    all.push_back({layer + ", y = x W", rows, out, in, false, false, false, 1, large});
    all.push_back({layer + ", dx = dy W'", rows, in, out, false, true, true, 1, large});
    all.push_back({layer + ", dW = x' dy", in, out, rows, true, false, true, 1, large});
  }
  const int64_t heads[][2] = {{16, 8}, {32, 16}, {32, 64}, {64, 16}, {64, 64}, {256, 16}, {256, 64}};
  for (const auto& [T, d_h] : heads) {  // B h = 128 of them
    const std::string size = text("128 heads, T ", T, ", d_h ", d_h);
    all.push_back({size + ", q k'", T, T, d_h, false, true, false, 128, little});
    all.push_back({size + ", pattern v", T, d_h, T, false, false, false, 128, little});
  }
  return all;
}

// One product with its numbers.
struct Bed {
  Product p;
  Random random{4};
  Tensor a, b, c;

  explicit Bed(const Product& product)
      : p(product), a(Tensor::uniform({p.count, p.M, p.K}, -1, 1, random)),
        b(Tensor::uniform({p.count, p.K, p.N}, -1, 1, random)), c(Tensor::zeros({p.count, p.M, p.N})) {}

  void ours() {
    float* out = c.mutable_values().data();
    for (int64_t i = 0; i < p.count; i++) {
      const float *a_i = a.data() + i * p.M * p.K, *b_i = b.data() + i * p.K * p.N;
      matrix_product(p.M, p.N, p.K, p.a_turned ? Matrix{a_i, 1, p.M} : Matrix{a_i, p.K, 1},
                     p.b_turned ? Matrix{b_i, 1, p.K} : Matrix{b_i, p.N, 1}, out + i * p.M * p.N, p.add);
    }
  }
  void theirs(Sgemm sgemm) {
    float* out = c.mutable_values().data();
    for (int64_t i = 0; i < p.count; i++) {
      sgemm(row_major, p.a_turned ? turned : as_it_lies, p.b_turned ? turned : as_it_lies, int(p.M), int(p.N),
            int(p.K), 1, a.data() + i * p.M * p.K, int(p.a_turned ? p.M : p.K), b.data() + i * p.K * p.N,
            int(p.b_turned ? p.K : p.N), p.add ? 1 : 0, out + i * p.M * p.N, int(p.N));
    }
  }
  double gflop() const { return 2e-9 * double(p.count * p.M * p.N * p.K); }
};

// A comparison of two programs that compute different things would mean nothing.
void expect_equal_results(Bed& bed, Sgemm sgemm) {
  bed.ours();
  const std::vector<float> first(bed.c.values().begin(), bed.c.values().end());
  bed.c = Tensor::zeros(bed.c.shape());
  bed.theirs(sgemm);
  for (size_t i = 0; i < first.size(); i++) {
    if (std::abs(first[i] - bed.c.data()[i]) < 1e-3) continue;
    throw ValueError(
        Message(text("bench: ", bed.p.name, " is ", first[i], " here and ", bed.c.data()[i], " in OpenBLAS"))
            .rule("both compute the same product, up to rounding"));
  }
}

// One pair: five bursts of each by turns, the best of both. Seconds of one product (or batch).
struct Pair {
  double ours = 1e9, theirs = 1e9;
};
Pair measure(Bed& bed, Sgemm sgemm) {
  const auto ours = [&] { bed.ours(); };
  const auto theirs = [&] { bed.theirs(sgemm); };
  const int calls = calls_per_burst(ours), their_calls = calls_per_burst(theirs);
  Pair best;
  for (int i = 0; i < 5; i++) {
    best.ours = std::min(best.ours, burst(calls, ours));
    best.theirs = std::min(best.theirs, burst(their_calls, theirs));
  }
  return best;
}

}  // namespace

void gemm_group(Report& report, int pairs) {
  const Blas blas = open_blas();
  if (!blas.sgemm)
    return report.missing("OpenBLAS, and all ratios to it: apt-get install libopenblas0-pthread");
  set_thread_count(1);
  const std::string title = "matrix product / OpenBLAS, ";
  report.page(text("OpenBLAS chose its kernel for ", blas.kernel, ".\n"));
  const std::vector<Product> all = products();
  std::vector<std::vector<double>> found(all.size());
  for (size_t i = 0; i < all.size(); i++) {
    report.working("matrix product, " + all[i].name, double(i) / double(all.size()));
    Bed bed(all[i]);
    expect_equal_results(bed, blas.sgemm);
    std::vector<double> speed;
    for (int j = 0; j < pairs; j++) {
      const Pair pair = measure(bed, blas.sgemm);
      found[i].push_back(pair.theirs / pair.ours);
      speed.push_back(bed.gflop() / pair.ours);
    }
    report.add(title + all[i].name, Better::more, all[i].goal, found[i],
               text(number(median(speed), 1), " GFLOP/s; ", number(median(speed) / median(found[i]), 1)));
  }
  for (const Goal& goal : {large, little}) {
    size_t worst = all.size();
    for (size_t i = 0; i < all.size(); i++) {
      if (all[i].goal.target != goal.target) continue;
      if (worst == all.size() || median(found[i]) < median(found[worst])) worst = i;
    }
    const std::string of =
        goal.target == large.target ? "256 to 1024 and medium's layers" : "n <= 64 and attention";
    report.add(title + "the worst of " + of, Better::more, goal, found[worst], all[worst].name);
  }
}

}  // namespace headway::bench

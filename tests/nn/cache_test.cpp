// Decoding with a cache: the same bits as the whole sequence at once, by value where hands can work it out,
// and nothing left behind by what was refused or cleared.
#include <type_traits>

#include "catch.h"
#include "core/buffer.h"
#include "core/node.h"
#include "fast/threads.h"
#include "helpers.h"
#include "nn/generate.h"

using namespace headway;

namespace {

using Words = std::vector<int>;

Transformer model_of(const Transformer::Options& options, uint64_t seed) {
  Random random(seed);
  return Transformer(options, random);
}

// D = 12 in three heads, 2 layers, 7 words, 9 positions.
const Transformer::Options small = {.vocab_size = 7,
                                    .context = 9,
                                    .num_layers = 2,
                                    .block = {.embed_dim = 12, .num_heads = 3, .mlp_dim = 10}};

Words random_words(int64_t count, int64_t V, Random& random) {
  Words words;
  for (int64_t i = 0; i < count; i++) words.push_back(random.below(int(V)));
  return words;
}

// Columns from .. to-1 of B rows.
Words columns(const Words& rows, int64_t B, int64_t from, int64_t to) {
  const int64_t T = int64_t(rows.size()) / B;
  Words out;
  for (int64_t b = 0; b < B; b++)
    out.insert(out.end(), rows.begin() + b * T + from, rows.begin() + b * T + to);
  return out;
}

// Reads B rows piece by piece, each `pieces[i]` tokens long, and joins the logits.
Tensor read_in_pieces(const Transformer& model, const Words& rows, int64_t B, const Words& pieces,
                      std::vector<KVCache>& caches) {
  const NoGrad no_grad;
  std::vector<Tensor> logits;
  int64_t at = 0;
  for (int T : pieces) {
    logits.push_back(model(columns(rows, B, at, at + T), B, T, caches));  // [B, T, V]
    at += T;
  }
  return concat(logits, 1);
}

Tensor read_at_once(const Transformer& model, const Words& rows, int64_t B) {
  const NoGrad no_grad;
  return model(rows, B, int64_t(rows.size()) / B);  // [B, T, V]
}

// Every number of the room, held or not.
std::vector<Scalar> everything(const KVCache& cache) {
  std::vector<Scalar> all(cache.keys().values().begin(), cache.keys().values().end());
  all.insert(all.end(), cache.values().values().begin(), cache.values().values().end());
  return all;
}

bool same_numbers(const std::vector<Scalar>& a, const std::vector<Scalar>& b) {  // NaN too
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Scalar)) == 0;
}

void fill(const KVCache& cache, Scalar value) {
  for (Tensor t : {cache.keys(), cache.values()}) {
    for (Scalar& x : t.mutable_values()) x = value;
  }
}

constexpr Scalar not_a_number = std::numeric_limits<Scalar>::quiet_NaN();

}  // namespace

TEST_CASE("cached logits equal those of the whole sequence to the bit, whatever the model and the pieces") {
  for (uint64_t round = 0; round < 60; round++) {
    Random random(round);
    const int64_t h = 1 + random.below(4), d_h = 1 + random.below(9), B = 1 + random.below(3);
    const int64_t n = 2 + random.below(20);
    const BlockOptions block = {.embed_dim = h * d_h,
                                .num_heads = h,
                                .mlp_dim = 1 + random.below(17),
                                .norm_first = random.below(2) == 0};
    const Transformer model = model_of({.vocab_size = 11,
                                        .context = n + random.below(3),
                                        .num_layers = 1 + random.below(3),
                                        .block = block,
                                        .tied = random.below(2) == 0},
                                       round);
    const Words rows = random_words(B * n, 11, random);
    std::vector<KVCache> caches = model.make_caches(B, n + random.below(4));
    int64_t at = 0;
    while (at < n) {
      const NoGrad no_grad;
      const int64_t T = std::min<int64_t>(n - at, 1 + random.below(3) * random.below(4));
      const Tensor logits = model(columns(rows, B, at, at + T), B, T, caches);  // [B, T, V]
      const Tensor whole = read_at_once(model, columns(rows, B, 0, at + T), B);
      CAPTURE(round, at, T);
      REQUIRE(same_bits(logits, slice(whole, 1, at, at + T)));
      at += T;
      CHECK(caches[0].length() == at);
    }
  }
}

TEST_CASE("scores, pattern and z over a cache are those of causal attention with that past") {
  const Tensor q = random_tensor({2, 3, 7, 4}, 1), k = random_tensor({2, 3, 7, 4}, 2),
               v = random_tensor({2, 3, 7, 4}, 3);
  KVCache cache(2, 3, 10, 4);
  int64_t past = 0;
  for (int64_t T : {3, 1, 2, 1}) {
    const auto piece = [&](const Tensor& t) { return slice(t, 2, past, past + T); };
    const Attended cached = append_and_attend(piece(q), piece(k), piece(v), cache);
    const Attended whole = attention(piece(q), slice(k, 2, 0, past + T), slice(v, 2, 0, past + T),
                                     {.is_causal = true, .past = past});
    CHECK(same_bits(cached.scores, whole.scores));
    CHECK(same_bits(cached.pattern, whole.pattern));
    CHECK(same_bits(cached.z, whole.z));
    past += T;
  }
}

TEST_CASE("a query behind cached keys sees them all and its own, not only the first") {
  const auto filled = [](int64_t length) {
    KVCache cache(1, 1, 8, 2);
    cache.append(Tensor::zeros({1, 1, length, 2}), Tensor::full({1, 1, length, 2}, 10));
    return cache;
  };
  KVCache four = filled(4), three = filled(3);
  const Tensor one = Tensor::zeros({1, 1, 1, 2}), two = Tensor::zeros({1, 1, 2, 2});
  const Attended a = append_and_attend(one, one, Tensor::from({1, 1, 1, 2}, {15, 20}), four);
  CHECK(far_apart(a.pattern, {0.2, 0.2, 0.2, 0.2, 0.2}) == "");
  CHECK(far_apart(a.z, {11, 12}) == "");
  const Attended b = append_and_attend(two, two, Tensor::from({1, 1, 2, 2}, {14, 10, 19, 35}), three);
  CHECK(far_apart(b.pattern, {0.25, 0.25, 0.25, 0.25, 0, 0.2, 0.2, 0.2, 0.2, 0.2}) == "");
  CHECK(far_apart(b.z, {11, 10, 12.6, 15}) == "");
}

TEST_CASE("the first token of an empty cache sees itself, the second sees two keys") {
  KVCache cache(1, 1, 2, 2);
  const Tensor v = Tensor::from({1, 1, 1, 2}, {3, -4}), w = Tensor::from({1, 1, 1, 2}, {5, 8});
  const Tensor zero = Tensor::zeros({1, 1, 1, 2});
  const Attended first = append_and_attend(Tensor::full({1, 1, 1, 2}, 7), v, v, cache);
  CHECK(numbers(first.pattern) == std::vector<double>{1});
  CHECK(numbers(first.z) == std::vector<double>{3, -4});
  const Attended second = append_and_attend(zero, v, w, cache);
  CHECK(numbers(second.pattern) == std::vector<double>{0.5, 0.5});
  CHECK(numbers(second.z) == std::vector<double>{4, 2});
}

TEST_CASE("a cache is filled to its last token; one more is refused and changes nothing") {
  const Tensor three = random_tensor({2, 3, 3, 4}, 4), one = random_tensor({2, 3, 1, 4}, 5);
  KVCache cache(2, 3, 4, 4);
  append_and_attend(three, three, three, cache);
  const std::vector<Scalar> before = everything(cache);
  CHECK_THROWS_AS(append_and_attend(three, three, three, cache), ShapeError);
  CHECK(cache.length() == 3);
  CHECK(same_numbers(everything(cache), before));
  CHECK(all_finite(append_and_attend(one, one, one, cache).z));
  CHECK(cache.length() == cache.capacity());
  CHECK_THROWS_AS(cache.append(one, one), ShapeError);
  CHECK(cache.length() == 4);
}

TEST_CASE("keys and values stand where they belong, and behind them nothing is written or read") {
  const Tensor q = random_tensor({2, 3, 5, 4}, 6), k = random_tensor({2, 3, 5, 4}, 7),
               v = random_tensor({2, 3, 5, 4}, 8);
  KVCache cache(2, 3, 11, 4);
  fill(cache, not_a_number);
  for (int64_t t : {0, 1, 2}) {
    const Tensor z =
        append_and_attend(slice(q, 2, t, t + 1), slice(k, 2, t, t + 1), slice(v, 2, t, t + 1), cache).z;
    CHECK(all_finite(z));
  }
  append_and_attend(slice(q, 2, 3, 5), slice(k, 2, 3, 5), slice(v, 2, 3, 5), cache);
  CHECK(same_bits(transpose(slice(cache.keys(), 3, 0, 5)), k));
  CHECK(same_bits(slice(cache.values(), 2, 0, 5), v));
  for (const Tensor& free : {slice(cache.keys(), 3, 5, 11), slice(cache.values(), 2, 5, 11)}) {
    for (Scalar x : free.values()) CHECK(std::isnan(x));
  }
}

TEST_CASE("a cache takes the bytes it says, all of them at the start") {
  const int64_t before = pool_use().live_bytes;
  KVCache cache(2, 4, 16, 8);
  CHECK(cache.bytes() == 2 * 2 * 4 * 16 * 8 * int64_t(sizeof(Scalar)));
  CHECK(pool_use().live_bytes - before == cache.bytes());
  const Tensor x = random_tensor({2, 4, 1, 8}, 9);
  const int64_t with_x = pool_use().live_bytes;
  for (int i = 0; i < 16; i++) append_and_attend(x, x, x, cache);
  CHECK(pool_use().live_bytes == with_x);
  CHECK(cache.bytes() == 2 * 2 * 4 * 16 * 8 * int64_t(sizeof(Scalar)));
  CHECK_FALSE(std::is_copy_constructible_v<KVCache>);
  CHECK_FALSE(std::is_copy_assignable_v<KVCache>);
}

TEST_CASE("make_caches makes one cache a layer, as long as the context or as asked") {
  const Transformer model = model_of(small, 10);
  const std::vector<KVCache> caches = model.make_caches(2), shorter = model.make_caches(5, 4);
  REQUIRE(caches.size() == 2);
  CHECK(caches[1].keys().shape() == Shape{2, 3, 4, 9});
  CHECK(caches[1].values().shape() == Shape{2, 3, 9, 4});
  CHECK(shorter[0].capacity() == 4);
  CHECK(shorter[0].length() == 0);
}

TEST_CASE("after clear a cache reads another prompt as a fresh one does, and truncate goes back") {
  const Transformer model = model_of(small, 11);
  Random random(12);
  const Words one = random_words(2 * 8, 7, random), other = random_words(2 * 5, 7, random);
  std::vector<KVCache> used = model.make_caches(2), fresh = model.make_caches(2);
  read_in_pieces(model, one, 2, {3, 1, 4}, used);
  for (KVCache& cache : used) cache.clear();
  const Tensor expected = read_in_pieces(model, other, 2, {2, 3}, fresh);
  CHECK(same_bits(read_in_pieces(model, other, 2, {2, 3}, used), expected));
  for (KVCache& cache : used) cache.truncate(2);
  CHECK(same_bits(read_in_pieces(model, columns(other, 2, 2, 5), 2, {1, 2}, used), slice(expected, 1, 2, 5)));
}

TEST_CASE("the items of a batch do not see each other") {
  const Transformer model = model_of(small, 13);
  Random random(14);
  Words rows = random_words(3 * 6, 7, random);
  std::vector<KVCache> caches = model.make_caches(3);
  const Tensor before = read_in_pieces(model, rows, 3, {2, 1, 3}, caches);
  for (int64_t b = 0; b < 3; b++) {
    std::vector<KVCache> own = model.make_caches(1);
    const Words row(rows.begin() + b * 6, rows.begin() + b * 6 + 6);
    CHECK(same_bits(read_in_pieces(model, row, 1, {1, 4, 1}, own), slice(before, 0, b, b + 1)));
  }
}

TEST_CASE("a layer without room is found before any layer reads the tokens") {
  const Transformer model = model_of(small, 15);
  std::vector<KVCache> caches = model.make_caches(1, 5);
  caches[1] = KVCache(1, 3, 3, 4);
  for (KVCache& cache : caches) fill(cache, 0);
  read_in_pieces(model, {1, 2}, 1, {2}, caches);
  const std::vector<Scalar> first = everything(caches[0]), second = everything(caches[1]);
  CHECK_THROWS_AS(read_in_pieces(model, {3, 4}, 1, {2}, caches), ShapeError);
  CHECK_THROWS_AS(read_in_pieces(model, {7}, 1, {1}, caches), ValueError);  // no such word
  CHECK(caches[0].length() == 2);
  CHECK(caches[1].length() == 2);
  CHECK(same_numbers(everything(caches[0]), first));
  CHECK(same_numbers(everything(caches[1]), second));
}

TEST_CASE("an error in a late layer leaves every cache as long as it was") {
  Transformer model = model_of(small, 16);
  const Words rows = {1, 2, 3, 4, 5};
  std::vector<KVCache> caches = model.make_caches(1);
  const Tensor expected = read_at_once(model, rows, 1);
  read_in_pieces(model, {1, 2}, 1, {2}, caches);
  Tensor bias = model.blocks[1].mlp.linear2.bias;
  const Scalar kept = bias.data()[0];
  bias.mutable_values()[0] = not_a_number;
  {
    const WatchForNaN check;
    CHECK_THROWS_AS(read_in_pieces(model, {6, 6}, 1, {2}, caches), ValueError);
  }
  CHECK(caches[0].length() == 2);
  CHECK(caches[1].length() == 2);
  bias.mutable_values()[0] = kept;
  CHECK(same_bits(read_in_pieces(model, {3, 4, 5}, 1, {3}, caches), slice(expected, 1, 2, 5)));
}

TEST_CASE("while history is recorded nothing goes through a cache") {
  const Transformer model = model_of(small, 17);
  std::vector<KVCache> caches = model.make_caches(1);
  CHECK_THROWS_AS(model({1, 2}, 1, 2, caches), ValueError);
  CHECK(caches[0].length() == 0);
  const int64_t nodes = live_nodes();
  const Tensor logits = read_in_pieces(model, {1, 2, 3}, 1, {1, 2}, caches);
  CHECK(live_nodes() == nodes);
  CHECK_FALSE(logits.has_node());
}

TEST_CASE("one and two threads give the same bits through a cache") {
  const Threads guard;
  const Transformer model = model_of({.vocab_size = 13,
                                      .context = 60,
                                      .num_layers = 2,
                                      .block = {.embed_dim = 80, .num_heads = 5, .mlp_dim = 96}},
                                     18);
  Random random(19);
  const Words rows = random_words(3 * 60, 13, random);
  std::vector<Tensor> logits;
  for (int threads : {1, 2}) {
    set_thread_count(threads);
    std::vector<KVCache> caches = model.make_caches(3);
    logits.push_back(read_in_pieces(model, rows, 3, {40, 1, 17, 1, 1}, caches));
  }
  CHECK(same_bits(logits[0], logits[1]));
}

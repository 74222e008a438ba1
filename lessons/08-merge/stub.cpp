// Exercise 08-merge: heads side by side again, every head with a pattern of its own, and the detector.
//
// Write the three functions between BEGIN and END; helpers and an #include of your own may stand there too.
// core/tensor.h and core/ops.h are there. split_heads and merge_heads are not: you build them.
// show(x) prints a tensor, and the report shows what was printed. Then: make 08-check
#include "course/candidate.h"

using namespace headway;

namespace {

// BEGIN exercise 08-merge

// z [B, h, T, d_h] -> [B, T, h d_h]: row t of the result is row t of head 0, then row t of head 1, and so on.
Tensor merge(const Tensor& z) { throw NotDone("merge"); }

// x [B, T, D], pattern [B, h, T, T]: head i is the i-th piece of d_h = D / h numbers of every token. Its row
// t becomes the sum over s of pattern[b, i, t, s] times its row s. Returns the heads side by side: [B, T, D].
Tensor mix(const Tensor& x, const Tensor& pattern) { throw NotDone("mix"); }

// before, after [B, T, D] -> [B, T]: 1 for each token of each item with a number that differs, by however
// little, else 0. No op compares: loop over the numbers.
Tensor moved(const Tensor& before, const Tensor& after) { throw NotDone("moved"); }

// END

// make 08-check finds the functions under these names.
const Candidate candidate(__FILE__, {{"merge", merge}, {"mix", mix}, {"moved", moved}});

}  // namespace

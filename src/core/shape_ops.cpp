// Ops that move numbers and change none.
#include <algorithm>

#include "core/elementwise.h"
#include "core/kernels.h"
#include "core/ops.h"
#include "core/permute.h"

namespace headway {

namespace {
void reshape_backward(Node& y) { add_values(y.grad_data(), y.size(), y.parent_sum(0)); }
}  // namespace

Tensor reshape(const Tensor& x, Shape shape) {
  const auto open = std::find(shape.begin(), shape.end(), -1);  // the size that is left over
  const bool two_open = open != shape.end() && std::find(open + 1, shape.end(), -1) != shape.end();
  if (open != shape.end() && !two_open) {
    *open = 1;
    const int64_t known = element_count(shape);
    *open = known > 0 && x.size() % known == 0 ? x.size() / known : -1;
  }
  if (two_open || std::count(shape.begin(), shape.end(), -1) > 0 || element_count(shape) != x.size()) {
    throw ShapeError(Message(text("reshape: ", x.size(), " numbers do not fill shape ", to_text(shape)))
                         .tensor("x", x.name(), x.shape())
                         .rule("reshape keeps every number, so the sizes multiplied must stay the same")
                         .hint("one size may be -1: it becomes what is left over"));
  }
  Result y("reshape", shape, {x}, reshape_backward);
  const Scalar* in = x.data();
  Scalar* out = y.data();
  parallel_for(x.size(), elements_per_thread, [=](int64_t from, int64_t to) {
    std::copy(in + from, in + to, out + from);  // the same numbers in the same order
  });
  return y.done();
}

namespace {
// out = x or out += x for a matrix of which x holds element (i, j) at x[i * row + j * column].
void copy_matrix(int64_t rows, int64_t columns, const Scalar* x, int64_t row, int64_t column, Scalar* out,
                 bool add) {
  if (row == 1 && column != 1) return transpose_matrix(columns, rows, x, column, out, columns, add);
  for (int64_t i = 0; i < rows; i++, x += row, out += columns) {
    if (add)
      for (int64_t j = 0; j < columns; j++) out[j] += x[j * column];
    else
      for (int64_t j = 0; j < columns; j++) out[j] = x[j * column];
  }
}
}  // namespace

void permute_values(const Scalar* x, const Shape& shape, const std::vector<int>& axes, Scalar* out,
                    bool add) {
  std::vector<int64_t> steps(shape.size(), 1);  // of x
  for (size_t i = steps.size(); i-- > 1;) steps[i - 1] = steps[i] * shape[i];
  // The last two axes of out are copied as matrices, the others count them.
  struct Axis {
    int64_t size = 1, step = 0;  // in x
  };
  std::vector<Axis> outer(axes.size() + 2);  // two axes at least
  for (size_t i = 0; i < axes.size(); i++) outer[i + 2] = {shape[size_t(axes[i])], steps[size_t(axes[i])]};
  const Axis columns = outer.back(), rows = outer[outer.size() - 2];
  outer.resize(outer.size() - 2);
  const int64_t block = rows.size * columns.size;
  const int64_t matrices = block == 0 ? 0 : element_count(shape) / block;
  parallel_for(matrices, 1 + elements_per_thread / (block + 1), [&](int64_t from, int64_t to) {
    for (int64_t m = from; m < to; m++) {
      int64_t start = 0, rest = m;
      for (size_t i = outer.size(); i-- > 0; rest /= outer[i].size)
        start += rest % outer[i].size * outer[i].step;
      copy_matrix(rows.size, columns.size, x + start, rows.step, columns.step, out + m * block, add);
    }
  });
}

namespace {
void permute_backward(Node& y) {
  std::vector<int> inverse(y.ints.size());
  for (size_t i = 0; i < inverse.size(); i++) inverse[size_t(y.ints[i])] = int(i);
  const GradientSum dx = y.parent_sum(0);
  permute_values(y.grad_data(), y.shape, inverse, dx.data, !dx.is_new);
}
}  // namespace

Tensor permute(const Tensor& x, const std::vector<int>& axes) {
  std::vector<int> from = axes;
  for (int& axis : from) axis = axis_index("permute", axis, x);
  bool repeated = false;
  for (int axis : from) repeated = repeated || std::count(from.begin(), from.end(), axis) > 1;
  if (int(axes.size()) != x.rank() || repeated) {
    throw ShapeError(Message(text("permute: ", to_text(Shape(axes.begin(), axes.end())),
                                  " is not an order of ", x.rank(), " axes"))
                         .tensor("x", x.name(), x.shape())
                         .rule("every axis of x is named once; axis i of the result is axis axes[i] of x"));
  }
  Shape shape(from.size());
  for (size_t i = 0; i < from.size(); i++) shape[i] = x.shape()[size_t(from[i])];
  Result y("permute", shape, {x}, permute_backward);
  permute_values(x.data(), x.shape(), from, y.data(), false);
  y.ints(std::move(from));
  return y.done();
}

Tensor transpose(const Tensor& x) {
  axis_index("transpose", -2, x);  // needs two axes
  std::vector<int> axes(size_t(x.rank()));
  for (size_t i = 0; i < axes.size(); i++) axes[i] = int(i);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return permute(x, axes);  // [..., N, M]
}

namespace {

// The numbers of x as [outer, size of axis, inner].
struct Split {
  int64_t outer = 1, size = 1, inner = 1;
  Split(const Shape& shape, size_t axis) {
    for (size_t i = 0; i < shape.size(); i++) (i < axis ? outer : i == axis ? size : inner) *= shape[i];
  }
};

// Copies `count` runs of `length` numbers, from x every x_step to out every out_step; or adds them.
void copy_runs(const Scalar* x, int64_t x_step, Scalar* out, int64_t out_step, int64_t length, int64_t count,
               bool add) {
  for (int64_t r = 0; r < count; r++) {
    if (add)
      add_values(x + r * x_step, length, {out + r * out_step, false});
    else
      std::copy_n(x + r * x_step, length, out + r * out_step);
  }
}

void concat_backward(Node& y) {
  const size_t axis = size_t(y.ints[0]);
  const Split whole(y.shape, axis);
  int64_t start = 0;
  for (size_t p = 0; p < y.parents.size(); p++) {
    const int64_t run = y.ints[p + 1] * whole.inner;
    if (Scalar* dx = y.parent_grad(p)) {
      copy_runs(y.grad_data() + start, whole.size * whole.inner, dx, run, run, whole.outer, true);
    }
    start += run;
  }
}
}  // namespace

Tensor concat(const std::vector<Tensor>& parts, int axis) {
  if (parts.empty())
    throw ValueError(Message("concat: there is nothing to put together").rule("one part at least"));
  const int at = axis_index("concat", axis, parts[0]);
  Shape shape = parts[0].shape();
  std::vector<int> ints = {at, int(shape[size_t(at)])};
  for (size_t p = 1; p < parts.size(); p++) {
    Shape other = parts[p].shape();
    if (other.size() == shape.size()) other[size_t(at)] = shape[size_t(at)];
    if (other != shape) {
      throw ShapeError(Message(text("concat: part ", p, " does not fit part 0 on axis ", axis))
                           .tensor("part 0", parts[0].name(), parts[0].shape())
                           .tensor(text("part ", p), parts[p].name(), parts[p].shape())
                           .rule("all sizes but that of the axis must be equal"));
    }
    ints.push_back(int(parts[p].shape()[size_t(at)]));
  }
  shape[size_t(at)] = 0;
  for (size_t p = 0; p < parts.size(); p++) shape[size_t(at)] += ints[p + 1];
  Result y("concat", shape, std::vector<Input>(parts.begin(), parts.end()), concat_backward);
  const Split whole(shape, size_t(at));
  int64_t start = 0;
  for (size_t p = 0; p < parts.size(); p++) {
    const int64_t run = ints[p + 1] * whole.inner;
    copy_runs(parts[p].data(), run, y.data() + start, whole.size * whole.inner, run, whole.outer, false);
    start += run;
  }
  y.ints(ints);
  return y.done();
}

namespace {
void slice_backward(Node& y) {
  const size_t axis = size_t(y.ints[0]);
  const Split whole(y.parent_shape(0), axis);
  const int64_t run = y.shape[axis] * whole.inner;
  Scalar* dx = y.parent_grad(0) + y.ints[1] * whole.inner;
  copy_runs(y.grad_data(), run, dx, whole.size * whole.inner, run, whole.outer, true);
}
}  // namespace

Tensor slice(const Tensor& x, int axis, int64_t start, int64_t stop) {
  const int at = axis_index("slice", axis, x);
  const int64_t size = x.shape()[size_t(at)];
  if (start < 0 || start > stop || stop > size) {
    throw ShapeError(Message(text("slice: ", start, " .. ", stop, " does not lie within the ", size,
                                  " entries of axis ", axis))
                         .tensor("x", x.name(), x.shape())
                         .rule("0 <= start <= stop <= size; stop itself is left out"));
  }
  Shape shape = x.shape();
  shape[size_t(at)] = stop - start;
  Result y("slice", shape, {x}, slice_backward);
  const Split whole(x.shape(), size_t(at));
  const int64_t run = (stop - start) * whole.inner;
  copy_runs(x.data() + start * whole.inner, whole.size * whole.inner, y.data(), run, run, whole.outer, false);
  y.ints({at, int(start)});
  return y.done();
}

}  // namespace headway

// Arrays from NumPy: read_npy reads what np.save(path, array) writes. Magic bytes, a version and a length are
// followed by a header, a Python dictionary as text, and then by the numbers:
//
//   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
#pragma once

#include <string>
#include <vector>

#include "core/tensor.h"

namespace headway {

struct NpyArray {
  std::string dtype;  // <f4 <f8 <i4 <i8 or |b1
  Shape shape;
  std::vector<double> numbers;    // the values of <f4 and <f8
  std::vector<int64_t> integers;  // the values of the others

  bool is_float() const { return dtype[1] == 'f'; }
  Tensor tensor() const;  // of any dtype, each value rounded to the nearest Scalar
};

// Format 1.0 to 3.0, little-endian, C order; FileError for all else. Sizes are checked against the length of
// the file before memory is asked for.
NpyArray read_npy(const std::string& path);

}  // namespace headway

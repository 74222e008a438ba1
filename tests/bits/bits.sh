#!/bin/sh
# Builds tests/bits/bits.cpp in every way this machine has, and compares what the programs print. The control, built so
# that the compiler may fuse multiply-adds as it likes, must print something else: else the test could not fail.
set -u
make=${MAKE:-make}
expected=$(cat tests/bits/expected.txt)
failed=0
passed=0
mkdir -p build

run() {  # run NAME WANTED make-settings...
  name=$1 wanted=$2
  shift 2
  printed=$($make -s bits-one-mode "$@" 2> build/bits.log | tail -n 1)
  verdict=same
  [ "$printed" = "$expected" ] || verdict=differs
  if [ "$verdict" = "$wanted" ]; then
    passed=$((passed + 1))
    echo "$name: $verdict, as it should be"
  else
    failed=$((failed + 1))
    echo "$name: FAILED: $verdict: '$printed' against tests/bits/expected.txt"
    tail -n 5 build/bits.log
  fi
}

for compiler in g++ clang++; do
  command -v $compiler > /dev/null || { echo "$compiler: not here, not tried"; continue; }
  THREADS=1 run "$compiler, fast, 1 thread" same CXX=$compiler MODE=fast
  THREADS=2 run "$compiler, fast, 2 threads" same CXX=$compiler MODE=fast
  run "$compiler, debug" same CXX=$compiler MODE=debug
  run "$compiler, PORTABLE=1" same CXX=$compiler MODE=fast PORTABLE=1
done
run 'control: g++ -ffp-contract=fast' differs CXX=g++ MODE=fast EXTRA=-ffp-contract=fast
echo "bits: $passed passed, $failed failed"
[ $failed -eq 0 ]

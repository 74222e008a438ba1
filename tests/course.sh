#!/bin/sh
# A learner's way through lesson 06, typed into a copy of the tree that shares its build folder: check, hints, solution,
# reset, status, next; what goes wrong in every way that tests/course/attacks.cpp knows; a lesson made by copying.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset MAKEFLAGS MAKELEVEL SEED STEPS HEADS PAUSE ATTACK
cp -Rp Makefile README.md src lessons tests data "$work"
mkdir -p build
ln -s "$PWD/build" "$work/build"
cd "$work" || exit 1
lesson=lessons/06-split
cp "$lesson/stub.cpp" "$lesson/exercise.cpp"

passed=0 failed=0
# does WHAT STATUS COMMAND...: runs it (its output is in $work/out), and its status must be 0, or not be 0.
does() {
  what=$1 wanted=$2
  shift 2
  "$@" > out 2>&1 < "${input:-/dev/null}"
  status=$?
  [ $status -ne 0 ] && status=1
  if [ $status -eq "$wanted" ]; then passed=$((passed + 1)); else complain "ended with status $status"; fi
}
complain() {
  failed=$((failed + 1))
  echo "course: $what: $1. It said:"
  sed 's/^/  | /' out
}
says() { if grep -qxF -e "$1" out; then passed=$((passed + 1)); else complain "does not say: $1"; fi; }
says_not() { if grep -qF -e "$1" out; then complain "says: $1"; else passed=$((passed + 1)); fi; }
# A killed process may take a moment to go.
is_gone() { for moment in 1 2 3 4 5; do kill -0 "$1" 2> /dev/null || return 0; sleep 1; done; return 1; }
course() { "$MAKE" -s CXX="$CXX" "$@"; }
# The stub with these lines as its region.
region() { awk '/^\/\/ BEGIN/ { print; while ((getline line < "'"$1"'") > 0) print line; skip = 1 } /^\/\/ END/ { skip = 0 } !skip' \
  "$lesson/stub.cpp" > "$lesson/exercise.cpp"; }
region_of() { awk '/^\/\/ END/ { exit } inside; /^\/\/ BEGIN/ { inside = 1 }' "$1"; }

does 'the first check' 1 course 06-check
says '  split is not written yet: lessons/06-split/exercise.cpp, line '"$(grep -n 'NotDone("split")' $lesson/stub.cpp | cut -d: -f1)"
says '0 of 6 tests pass: 0 of 10 points'
says 'next: make 06-check again; where you are stuck: make 06-hint'
for level in 1 2 3; do
  does "hint $level" 0 course 06-hint
  says "$(sed -n "s/^hint $level: /hint $level of 3: /p" $lesson/hints.txt)"
done
does 'a solution that was not earned' 1 course 06-solution
says_not 'permute(cut'
echo y > yes
input=yes
does 'a solution after a yes' 0 course 06-solution
says '  return permute(cut, {0, 2, 1, 3});             // [B, h, T, d_h]'
input=

region_of "$lesson/solution.cpp" > right
region right
does 'the solution, checked' 0 course 06-check
says '6 of 6 tests pass: 10 of 10 points'
says 'next: make 06-quiz'
says "$(sed -n '/^## What you have shown/{n;n;p;}' $lesson/README.md)"
does 'a solution that was earned' 0 course 06-solution
does 'status' 0 course status
grep -q '^06-split .*6 of 6 ' out || complain 'the check of 06 is not 6 of 6'
does 'what is next' 0 course next
says 'next: make 06-quiz'

sed 's/permute(cut, {0, 2, 1, 3})/reshape(x, {B, h, T, -1})/' right > wrong
region wrong
does 'a known mistake' 1 course 06-check
says '  call      split([1, 3, 4], 2)'
says '  where     batch 0, head 0, token 1, number 0'
says '  expected  4 5'
says '  got       2 3'
says '  diagnosis the right shape, but a reshape alone: it keeps the order of the numbers, so head 0'
says '0 of 6 tests pass: 0 of 10 points'
region right
sed 's/^using namespace headway;/using namespace std;/' "$lesson/exercise.cpp" > changed && cp changed "$lesson/exercise.cpp"
does 'a line changed outside the region' 0 course 06-check
says "$lesson/exercise.cpp: changed outside BEGIN and END, so not used (what is yours goes between them):"
does 'reset' 0 course 06-reset
cmp -s "$lesson/exercise.cpp" "$lesson/stub.cpp" || complain 'exercise.cpp is not the stub'
cmp -s .progress/06-split/exercise-1.cpp changed || complain 'the old file is not kept'

{ echo '#include "nn/attention.h"'; sed 's/permute(cut, {0, 2, 1, 3})/split_heads(x, h)/' right; } > wrong
region wrong
does 'a call of what is to be built' 1 course 06-check
says 'split_heads is not linked into an exercise: only core is (core/tensor.h, core/ops.h, core/mask.h).'
sed 's/return permute/return 1 +/' right > wrong
region wrong
does 'a file that does not compile' 1 course 06-check
says 'The exercise does not compile yet; the first error is the one to read.'

sed 's/return permute/const int unused = 0;\n  return permute/' right > wrong
region wrong
does 'a file that compiles with a warning' 0 course 06-check
grep -q "warning: unused variable 'unused'" out || complain 'the warning is not shown'
says_not 'does not compile'
for command in check hint solution reset; do
  does "04-$command" 1 course "04-$command"
  says '04-attention has no exercise'
done

region tests/course/attacks.cpp
while IFS='|' read -r ATTACK expected; do
  export ATTACK
  does "$ATTACK" 1 course 06-check
  says "  $expected"
  says '0 of 6 tests pass: 0 of 10 points'
  says_not 'You have shown'
  [ "$(wc -l < out)" -le 26 ] || complain 'is more than a screen'
  [ "$(grep -c 'First failure' out)" -eq 1 ] || complain 'shows more than the first failure'
  grep -q '[^ -~]' out && complain 'is not plain ASCII'
  child=$(sed -n 's/^  printed   //p' out)
  [ "$ATTACK" != fork ] || is_gone "$child" || complain "leaves process $child behind"
done << END
wild pointer|crashed   at an address that holds no memory
past the end|crashed   beyond the end of a tensor, or in one that is gone
index out of range|crashed   an index beyond the end of a vector or span
endless loop|stopped   3 seconds of work were not enough: a loop that does not end?
endless recursion|crashed   the stack is full: a function that calls itself without end?
exit|ended     the program called exit (status 0) instead of returning a result
exit before main|ended     the program called exit (status 0) instead of returning a result
abort|crashed   it called abort, or threw where nothing may be thrown
10 GB|crashed   more than 256 MB of memory asked for at once
10 GB in a tensor|crashed   more than 256 MB of memory asked for at once
more and more memory|crashed   more than 512 MB of memory in use
wrong shape|got       shape [1, 3, 4]
not a number|got       nan nan
no tensor|got       an error: the function returned a Tensor that was never given numbers
another thing thrown|got       an error: something was thrown that is no std::exception
division by zero|crashed   division by zero
endless printing|stopped   it printed or wrote more than 1 MB: in a loop that does not end?
sleep|stopped   there was no answer within 8 seconds: does it wait for something?
fake report|printed   All tests passed (6 assertions in 6 test cases)
changed argument|got       an error: the function wrote into what it was given
not cleared|note      nan: 0 / 0, or += into a Tensor::uncleared: use Tensor::zeros
refused by an op|at        lessons/06-split/exercise.cpp:$(($(grep -n 'refused by an op' tests/course/attacks.cpp | cut -d: -f1) + $(grep -n '^// BEGIN' $lesson/stub.cpp | cut -d: -f1)))
fake answer|got       noise instead of a result: does it write to file 4?
closed pipe|ended     the program called exit (status 1) instead of returning a result
fork|got       shape [1, 3, 4]
END
export ATTACK='crash where an error is due'
does "$ATTACK" 1 course 06-check
says '  crashed   it called abort, or threw where nothing may be thrown'
says '3 of 6 tests pass: 5 of 10 points'
unset ATTACK

program=build/asan-$(echo "$CXX" | tr / _)/exercises/06-split
chmod -x "$program"
does 'a program that cannot be started' 1 course 06-check
says "set-up    $program cannot be started"
says_not 'points'
chmod +x "$program"

for other in lessons/*/check.cpp; do
  other=$(dirname "$other")
  cp "$other/solution.cpp" "$other/exercise.cpp"
  number=$(basename "$other" | cut -d- -f1)
  does "the solution of $number, checked as a learner's" 0 course "$number-check"
  says_not 'changed outside'
done

cp -R "$lesson" lessons/21-mine
cp "$lesson/solution.cpp" lessons/21-mine/exercise.cpp
does 'a lesson made by copying' 0 course 21-check
says '6 of 6 tests pass: 10 of 10 points'
echo "course: $passed passed, $failed failed"
[ $failed -eq 0 ]

#!/bin/sh
# compare DIR LESSON...: runs every lesson and its experiment; what they print must be expected.txt and experiment.txt, to
# the letter, and the pictures they draw must be the committed ones, pixel by pixel.
# accept DIR LESSON: shows the differences, then makes the new texts and pictures the expected ones.
set -u
unset SEED STEPS HEADS DATA PAUSE
what=$1 dir=$2
shift 2
failed=0 passed=0

text_of() { [ "$1" = lesson ] && echo "lessons/$lesson/expected.txt" || echo "lessons/$lesson/experiment.txt"; }

# Why the pictures are not as expected; nothing if they are.
other_pictures() {
  for picture in "lessons/$lesson"/*.png; do
    [ -f "$picture" ] || continue
    ${RUN:-} "$SAME" "$picture" "$out/$(basename "$picture")" || echo "it draws another $picture"
  done
}

for lesson; do
  out=build/out/$lesson
  rm -rf "$out"
  mkdir -p "$out"
  wrong='' times=''
  for program in lesson experiment; do
    [ -f "lessons/$lesson/$program.cpp" ] || continue
    expected=$(text_of $program)
    [ -f "$expected" ] || : > "$expected"
    began=$(date +%s)
    ${RUN:-} "$dir/$lesson/$program" > "$out/$program.txt"
    status=$?
    times="$times$program $(($(date +%s) - began)) s, "
    if [ $status -ne 0 ]; then
      wrong="$wrong
the $program ended with status $status"
    elif ! diff -u "$expected" "$out/$program.txt" > "$out/difference.txt"; then
      wrong="$wrong
the $program prints something else than $expected:
$(head -n 20 "$out/difference.txt")"
    fi
    if [ "$what" = accept ]; then
      [ $status -eq 0 ] || { echo "the $program of $lesson ended with status $status: nothing was accepted"; exit 1; }
      cat "$out/difference.txt"
      cp "$out/$program.txt" "$expected"
    fi
  done
  if [ "$what" = accept ]; then
    for picture in "$out"/*.png; do
      [ -f "$picture" ] && cp "$picture" "lessons/$lesson/"
    done
    echo "accepted: lessons/$lesson"
    continue
  fi
  wrong="$wrong$(other_pictures)"
  if [ -z "$wrong" ]; then
    passed=$((passed + 1))
    echo "$lesson  as expected  (${times%, })"
  else
    failed=$((failed + 1))
    echo "$lesson  FAILED  (${times%, }): $wrong"
  fi
done
[ "$what" = accept ] || echo "lessons: $passed passed, $failed failed"
[ $failed -eq 0 ]

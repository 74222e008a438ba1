#!/bin/sh
# compare DIR LESSON...: runs every lesson and compares what it prints with its expected.txt, to the letter.
# accept DIR LESSON: shows the difference, then makes the new text and pictures the expected ones.
set -u
unset SEED STEPS HEADS
what=$1 dir=$2
shift 2
out=build/out
failed=0 passed=0
for lesson; do
  expected=lessons/$lesson/expected.txt
  mkdir -p "$out/$lesson"
  began=$(date +%s)
  ${RUN:-} "$dir/$lesson/lesson" > "$out/$lesson/printed.txt"
  status=$?
  seconds=$(($(date +%s) - began))
  if [ $status -ne 0 ]; then
    echo "$lesson  FAILED: the program ended with status $status"
    failed=$((failed + 1))
  elif [ "$what" = accept ]; then
    diff -u "$expected" "$out/$lesson/printed.txt"
    cp "$out/$lesson/printed.txt" "$expected"
    for picture in "$out/$lesson"/*.png; do
      [ -f "$picture" ] && cp "$picture" "lessons/$lesson/"
    done
    echo "accepted: $expected"
  elif diff -u "$expected" "$out/$lesson/printed.txt" > "$out/$lesson/difference.txt"; then
    echo "$lesson  as expected  (${seconds} s)"
    passed=$((passed + 1))
  else
    echo "$lesson  DIFFERS from $expected  (${seconds} s)"
    head -n 20 "$out/$lesson/difference.txt"
    failed=$((failed + 1))
  fi
done
[ "$what" = accept ] || echo "lessons: $passed passed, $failed failed"
[ $failed -eq 0 ]

#!/bin/sh
# compare DIR LESSON...: runs every lesson; what it prints must be its expected.txt, to the letter, and the pictures it
# draws must be the committed ones, pixel by pixel.
# accept DIR LESSON: shows the difference, then makes the new text and pictures the expected ones.
set -u
unset SEED STEPS HEADS PAUSE
what=$1 dir=$2
shift 2
failed=0 passed=0

# Why the lesson, which has just run, is not as expected; nothing if it is.
complaint() {
  [ "$status" -eq 0 ] || { echo "it ended with status $status"; return; }
  diff -u "lessons/$lesson/expected.txt" "$out/printed.txt" > "$out/difference.txt" || {
    echo 'it prints something else than its expected.txt:'
    head -n 20 "$out/difference.txt"
  }
  for picture in "lessons/$lesson"/*.png; do
    [ -f "$picture" ] || continue
    ${RUN:-} "$SAME" "$picture" "$out/$(basename "$picture")" || echo "it draws another $picture"
  done
}

for lesson; do
  out=build/out/$lesson
  rm -rf "$out"
  mkdir -p "$out"
  began=$(date +%s)
  ${RUN:-} "$dir/$lesson/lesson" > "$out/printed.txt"
  status=$?
  seconds=$(($(date +%s) - began))
  if [ "$what" = accept ]; then
    [ $status -eq 0 ] || { echo "$lesson ended with status $status: nothing was accepted"; exit 1; }
    diff -u "lessons/$lesson/expected.txt" "$out/printed.txt"
    cp "$out/printed.txt" "lessons/$lesson/expected.txt"
    for picture in "$out"/*.png; do
      [ -f "$picture" ] && cp "$picture" "lessons/$lesson/"
    done
    echo "accepted: lessons/$lesson"
    continue
  fi
  wrong=$(complaint)
  if [ -z "$wrong" ]; then
    passed=$((passed + 1))
    echo "$lesson  as expected  ($seconds s)"
  else
    failed=$((failed + 1))
    echo "$lesson  FAILED  ($seconds s): $wrong"
  fi
done
[ "$what" = accept ] || echo "lessons: $passed passed, $failed failed"
[ $failed -eq 0 ]

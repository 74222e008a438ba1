#!/bin/sh
# Every README with a `gdb` block: types its commands into gdb, after src/show/lesson.gdb, as `make NN-gdb` does. Each line
# of the `gdb-output` block that follows must then come, in order. Without gdb, or where it may not trace, all is skipped.
set -u
passed=0 failed=0 skipped=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset PAUSE SEED STEPS HEADS DEBUGINFOD_URLS

block() { awk -v fence="\`\`\`$1" '/^```/ { inside = $0 == fence; next } inside' "$2"; }

# The first line of $1 that does not come, in order, in $2; nothing if all do.
missing_line() {
  awk 'NR == FNR { want[++n] = $0; next } seen < n && $0 == want[seen + 1] { seen++ }
       END { if (seen < n) print "\"" want[seen + 1] "\"" }' "$1" "$2"
}

# The comparison itself must be able to fail.
printf 'a\nb\n' > "$work/want"
printf 'a\nx\nb\n' > "$work/right"
printf 'b\na\nb.\n' > "$work/wrong"
if [ -n "$(missing_line "$work/want" "$work/right")" ] || [ "$(missing_line "$work/want" "$work/wrong")" != '"b"' ]; then
  echo 'stop here: the comparison does not see a wrong line'
  exit 1
fi

lessons=$(grep -l '^```gdb$' lessons/*/README.md | cut -d/ -f2)
if [ -n "${RUN:-}" ]; then
  echo "with RUN='$RUN' the programs are not for this machine's gdb"
fi
if [ -z "${RUN:-}" ] && sh src/show/debugger.sh --gdb; then
  programs=
  for lesson in $lessons; do programs="$programs $DEBUG/lessons/$lesson/lesson"; done
  "$MAKE" --no-print-directory MODE=debug $programs || exit 1
  for lesson in $lessons; do
    readme=lessons/$lesson/README.md
    block gdb "$readme" > "$work/commands"
    block gdb-output "$readme" > "$work/want"
    gdb -q -nx -batch -x src/show/lesson.gdb -x "$work/commands" "$DEBUG/lessons/$lesson/lesson" > "$work/out" 2>&1 < /dev/null
    if [ ! -s "$work/want" ]; then
      missing='a block gdb-output in the README'
    else
      missing=$(missing_line "$work/want" "$work/out")
    fi
    if [ -z "$missing" ]; then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      echo "$readme, Stop here: gdb does not print, at its place: $missing. It prints:"
      tail -n 60 "$work/out"
    fi
  done
else
  for lesson in $lessons; do skipped=$((skipped + 1)); done
fi
echo "stop here: $passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]

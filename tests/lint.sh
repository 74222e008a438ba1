#!/bin/sh
# The rules that a program can check: which layer may include which, formatting, the files of a lesson, words that must
# not stay. Prints the line counts as well. Exit status 1 if a rule is broken.
set -u
broken=0
refuse() { echo "lint: $1"; broken=1; }

# A file of src/ includes its own layer and those before it in this list.
layers='core fast nn files heads tasks show course'
wrong_includes() {  # reads "file:#include ..." lines
  awk -v layers="$layers" '
    BEGIN { n = split(layers, name, " "); for (i = 1; i <= n; i++) rank[name[i]] = i }
    {
      split($0, part, ":"); split(part[1], dir, "/"); own = dir[2]
      if (!match($0, /"[a-z]+\//)) next
      other = substr($0, RSTART + 1, RLENGTH - 2)
      if (!(own in rank)) print part[1] ": no such layer: " own
      else if (!(other in rank)) print part[1] ": includes an unknown layer: " other
      else if (rank[other] > rank[own]) print part[1] ": layer " own " must not include " other
      else if (own == "nn" && other == "fast") print part[1] ": only core/ headers reach src/fast"
    }'
}
found=$(grep -n '#include "' src/*/*.h src/*/*.cpp | sed 's/:[0-9]*:/:/' | wrong_includes)
[ -z "$found" ] || refuse "$found"
# The check itself must be able to fail.
[ -n "$(echo 'src/core/x.h:#include "nn/attention.h"' | wrong_includes)" ] || refuse 'the layer check does not see a wrong include'

# Line counts: all lines, and those that are neither blank nor only a comment.
count() { cat "$@" | awk '{ all++ } !/^[ \t]*($|\/\/)/ { code++ } END { printf "%5d lines, %5d of code", all, code }'; }
echo "core + nn   $(count src/core/* src/nn/*)"
for layer in $layers; do
  [ -d "src/$layer" ] && printf '%-11s %s\n' "$layer" "$(count src/$layer/*)"
done
# What README tells a learner to read in an afternoon must stay that short.
afternoon='core/tensor core/node core/ops core/shape_ops core/matmul core/softmax core/kernels core/naive nn/module
  nn/attention nn/transformer'
reading=$(for part in $afternoon; do ls "src/$part".* 2> /dev/null; done)
echo "afternoon   $(count $reading)"
[ "$(count $reading | awk '{ print $3 }')" -le 2000 ] || refuse 'the afternoon of README has more than 2000 lines of code'
for part in $afternoon; do
  grep -q "\`$part\`" README.md || refuse "README.md does not name $part among what an afternoon reads"
done
for file in src/*/*; do
  [ "$(wc -l < "$file")" -le 260 ] || refuse "$file has more than 260 lines"
done

if command -v clang-format > /dev/null; then
  for file in src/*/*.h src/*/*.cpp lessons/*/*.cpp tests/*.h tests/*/*.h tests/*/*.cpp; do
    [ -f "$file" ] || continue
    clang-format "$file" | cmp -s - "$file" || refuse "$file is not formatted: make format"
  done
else
  echo 'clang-format is not here: formatting not checked'
fi

for lesson in lessons/*/; do
  for file in README.md lesson.cpp expected.txt; do
    [ -s "$lesson$file" ] || refuse "$lesson$file is missing or empty"
  done
  [ "$(head -c 4 "${lesson}README.md")" = "# $(basename "$lesson" | cut -c1-2)" ] ||
    refuse "${lesson}README.md does not begin with '# $(basename "$lesson"): title'"
  for section in 'What you can already do' 'The one idea' 'By hand' 'Run it' 'The picture' 'What changed since lesson' \
    'If it looks like this' 'What you have shown' 'Next'; do
    grep -q "^## $section" "${lesson}README.md" || refuse "${lesson}README.md has no section '## $section'"
  done
  if [ -f "${lesson}experiment.cpp" ]; then
    [ -s "${lesson}experiment.txt" ] || refuse "${lesson}experiment.txt is missing or empty"
    [ "$(wc -l < "${lesson}lesson.cpp")" -le 150 ] || refuse "${lesson}lesson.cpp has more than 150 lines"
    grep -q '^## The experiment' "${lesson}README.md" || refuse "${lesson}README.md has no section '## The experiment'"
  fi
  if [ -f "${lesson}exercise.cpp" ]; then
    for file in stub.cpp solution.cpp check.cpp mistakes.cpp hints.txt quiz.txt; do
      [ -s "$lesson$file" ] || refuse "$lesson$file is missing or empty"
    done
    for section in 'Stop here' 'Exercise' 'Quiz'; do
      grep -q "^## $section" "${lesson}README.md" || refuse "${lesson}README.md has no section '## $section'"
    done
    awk 'length > 98 { exit 1 }' "${lesson}hints.txt" || refuse "${lesson}hints.txt has lines of more than 98 columns"
    cmp -s "${lesson}exercise.cpp" "${lesson}stub.cpp" || refuse "${lesson}exercise.cpp is not stub.cpp: make NN-reset"
    points=$(grep -o '\[points:[0-9]*\]' "${lesson}check.cpp" | tr -dc '0-9\n' | awk '{ sum += $1 } END { print sum + 0 }')
    [ "$points" -eq 10 ] || refuse "${lesson}check.cpp gives $points points, not 10"
  fi
  for picture in $(grep -o '([a-z0-9-]*\.png)' "${lesson}README.md" | tr -d '()'); do
    [ -s "$lesson$picture" ] || refuse "${lesson}README.md shows $picture, which is not there"
  done
done

found=$(grep -nE 'TODO|FIXME|XXX' -r src lessons tests Makefile README.md | grep -v '^tests/lint.sh')
[ -z "$found" ] || refuse "left open: $found"
[ $broken -eq 0 ] && echo 'lint: all rules kept'
exit $broken

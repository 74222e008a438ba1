#!/bin/sh
# debugger.sh PROGRAM: a lesson in gdb, or in lldb where only that exists, stopped at its first step.
# debugger.sh --any, --gdb: is there one that can be used here, is it gdb? Ends with status 2 if not, and says why.
set -u
unset PAUSE DEBUGINFOD_URLS  # no waiting for keys, no questions about downloads
here=$(dirname "$0")

# Whether gdb may trace a program here. Some containers and hardened systems forbid it.
may_trace() { gdb -q -nx -batch -ex 'set disable-randomization off' -ex run --args true 2>&1 | grep -q 'exited normally'; }
refused() {
  echo 'gdb is here, but may not trace a program: this system refuses ptrace.'
  echo 'In a container: start it with --cap-add=SYS_PTRACE. Elsewhere: read /proc/sys/kernel/yama/ptrace_scope; 0 or 1 will do.'
}
missing() {
  echo 'gdb is missing. Debian, Ubuntu: apt-get install gdb    macOS: xcode-select --install (brings lldb, which serves as well)'
}

if command -v gdb > /dev/null; then
  may_trace || { refused; exit 2; }
  case $1 in --*) exit 0 ;; esac
  exec gdb -q -x "$here/lesson.gdb" "$1"
elif [ "$1" != --gdb ] && command -v lldb > /dev/null; then
  [ "$1" = --any ] && exit 0
  echo 'gdb is not here, so this is lldb (untested): `continue` goes to the next step, `call show(q)` shows a tensor.'
  exec lldb -o 'breakpoint set --name headway::step --command finish' -o 'breakpoint set -E c++' -o run "$1"
else
  missing
  exit 2
fi

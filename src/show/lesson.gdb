# What gdb begins with in make NN-gdb: it stands at the first step of the lesson. Then for instance
#   next               one line on; step goes into a function of ours
#   call show(q)       name, shape and numbers of any tensor
#   continue           on to the next step
set breakpoint pending off
set confirm off
set pagination off
# No addresses: they say nothing here, and differ from run to run.
set print address off
# Containers often forbid what turns this on.
set disable-randomization off

# `step` is to enter the functions of Headway, not those of the standard library.
skip -rfu ^std::

catch throw
commands
  silent
  printf "an error is thrown; `up` leads to the lesson's own line:\n"
  backtrace 8
end

# step() prints the title and returns: gdb then stands on the lesson's own line, the first of this step.
break -qualified headway::step
commands
  silent
  finish
end

run

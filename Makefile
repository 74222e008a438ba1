# Headway: everything is built and run from here; `make` alone lists what there is.
# All output goes to build/. Works with GNU make 3.81, and in folders with a space in their name.

ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
endif
ifeq ($(origin CXX),default)
CXX := g++
endif
# fast: what lessons run. debug: -O0, for stepping (src/fast stays optimised). asan, tsan: under sanitizers.
# double: every number a double, naive kernels, strict gradient checks.
MODE := fast
# PORTABLE=1: no instructions beyond the compiler's own default. The same numbers, slowly.
PORTABLE :=
# RUN: stands before every program that is run. RUN="qemu-aarch64 -L /usr/aarch64-linux-gnu"
RUN :=
# EXTRA: added to every compilation. The control of the bit test uses it.
EXTRA :=

LESSONS := $(notdir $(wildcard lessons/[0-9][0-9]-*))
COMPILER := $(subst /,_,$(CXX))

# The instruction set: x86-64-v3 (AVX2 and fma) where a program compiled for it runs; asked once per compiler.
PROBE := build/probe/$(COMPILER)
ifneq ($(filter-out clean format help,$(or $(MAKECMDGOALS),help)),)
ifeq ($(wildcard $(PROBE)),)
PROBED := $(shell mkdir -p build/probe; : > $(PROBE); { \
  echo 'int main() { return !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")); }' > $(PROBE).cpp && \
  $(CXX) -march=x86-64-v3 $(PROBE).cpp -o $(PROBE).out && $(RUN) $(PROBE).out && \
  echo -march=x86-64-v3 > $(PROBE); } 2>/dev/null)
endif
MARCH := $(if $(PORTABLE),,$(shell cat $(PROBE)))
endif

# -ffp-contract=off: a fused multiply-add only where the source says fma, so that every compiler gets the same bits.
# -fno-math-errno, -fno-trapping-math: change no result, and let loops over sqrt and selects become vectors.
SAME_BITS := -ffp-contract=off -fno-math-errno -fno-trapping-math
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wno-psabi
FLAGS_fast := -O3
FLAGS_debug := -O0 -g -DHEADWAY_DEBUG -DHEADWAY_FILL
FLAGS_double := -O1 -DSCALAR_DOUBLE
FLAGS_asan := -O1 -g -DHEADWAY_FILL -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FLAGS_tsan := -O1 -g -fsanitize=thread
ifeq ($(FLAGS_$(MODE)),)
$(error MODE is '$(MODE)', but may be fast, debug, double, asan or tsan)
endif
FLAGS := -std=c++20 $(FLAGS_$(MODE)) $(MARCH) $(SAME_BITS) $(WARNINGS) -Isrc -Itests -pthread $(EXTRA)
COMPILE = echo '  compile $<'; mkdir -p $(@D); $(CXX)

# The double build is there for gradients: the naive kernels do the work, and only what has a backward is built.
DOUBLE_LEFT_OUT := src/fast/tile.cpp src/fast/rows.cpp src/fast/row_product.cpp $(wildcard src/files/* src/heads/* src/show/* src/course/*)
LIBRARY := $(filter-out src/course/main.cpp src/course/serve.cpp $(if $(filter double,$(MODE)),$(DOUBLE_LEFT_OUT)),$(wildcard src/*/*.cpp))
OUT := build/$(MODE)-$(COMPILER)$(if $(PORTABLE),-portable)$(if $(EXTRA),-extra)
ARCHIVE := $(OUT)/libheadway.a
TESTS := $(wildcard $(if $(filter double,$(MODE)),tests/core/*_test.cpp tests/nn/*_test.cpp,tests/*/*_test.cpp))

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: help lessons quiz next status test test-one-mode prove test-course test-gdb asan tsan bench bits bits-one-mode conformance format lint clean FORCE $(LESSONS)

help:
	@echo 'make NN               build and run lesson NN (make 06, make 6 and make 06-split are the same)'
	@echo 'make NN-experiment    what training shows: tables over seeds, pictures'
	@echo 'make NN-step          the lesson, waiting for Enter at each step and showing its tensors'
	@echo 'make NN-gdb           the lesson in gdb, stopped at its first step; call show(q) prints any tensor'
	@echo 'make NN-accept        renew expected.txt, experiment.txt and the pictures of lesson NN; shows the difference first'
	@echo 'make NN-check         check lessons/NN-name/exercise.cpp, test by test'
	@echo 'make NN-hint          the next of three hints for the exercise of lesson NN'
	@echo 'make NN-solution      its solution, once the check is passed or after a yes'
	@echo 'make NN-reset         its stub back; what you had written is put aside under .progress/'
	@echo 'make NN-quiz          the quiz of lesson NN; make quiz asks all'
	@echo 'make next             the next thing to do'
	@echo 'make status           a table of what is done'
	@echo 'make lessons          run every lesson and experiment, compare each with its expected.txt or experiment.txt'
	@echo 'make test             every test: in float, in double, of the exercises, of what gdb shows'
	@echo 'make asan             the tests under the address and undefined-behaviour sanitizers'
	@echo 'make tsan             the tests under the thread sanitizer'
	@echo 'make bench [ONLY=group] [PAIRS=n]   how fast, beside PyTorch and OpenBLAS where they are installed; some minutes'
	@echo 'make bits             do all compilers and modes that are here compute the same bits?'
	@echo 'make conformance CASES=dir [VERBOSE=1]   run the case folders below dir'
	@echo 'make format           clang-format over all sources'
	@echo 'make lint             layer order, line counts, formatting, lesson anatomy'
	@echo 'make clean            remove build/'
	@echo
	@echo 'To set: MODE=fast|debug|double|asan|tsan  CXX=clang++  PORTABLE=1  THREADS=n   and for a lesson SEED=n  STEPS=n'
	@echo
	@for l in $(LESSONS); do sed -n '1s/^# */  /p' lessons/$$l/README.md; done

# ---- compiling. An object depends on headers and on the whole command line, so nothing stale is ever linked.
$(OUT)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CXX) $(FLAGS)' "`$(CXX) -dumpversion`" > $@.new
	@cmp -s $@ $@.new || cp $@.new $@

# What most files include is parsed once, into a precompiled header: $(call precompiled,name,header).
define precompiled
$(OUT)/$(1).h: $(OUT)/flags
	@echo '#include "$(2)"' > $$@
$(OUT)/$(1).h.gch: $(OUT)/$(1).h
	@$$(COMPILE) $$(FLAGS_OF_$(1)) -MMD -MP -x c++-header $$< -o $$@
endef
FLAGS_OF_sources = $(FLAGS)
FLAGS_OF_tests = $(FLAGS:-O3=-O0)
$(eval $(call precompiled,sources,core/node.h))
$(eval $(call precompiled,tests,catch.h))
-include $(wildcard $(OUT)/sources.h.d $(OUT)/tests.h.d)

# src/fast is optimised even in the debug build.
$(OUT)/src/fast/%.o: src/fast/%.cpp $(OUT)/flags
	@$(COMPILE) $(FLAGS:-O0=-O3) -MMD -MP -c $< -o $@

# Tests and checks are compiled often and run once.
COMPILE_TEST = $(COMPILE) $(FLAGS_OF_tests) -include $(OUT)/tests.h -MMD -MP -c $< -o $@
$(OUT)/%_test.o: %_test.cpp $(OUT)/tests.h.gch
	@$(COMPILE_TEST)
$(OUT)/%/check.o: %/check.cpp $(OUT)/tests.h.gch
	@$(COMPILE_TEST)

# The numbers are made in core and nn; what surrounds them compiles faster at -O1.
$(OUT)/src/core/%.o $(OUT)/src/nn/%.o $(OUT)/tests/bench/%.o: OPTIMISED = $(FLAGS)
$(OUT)/%.o: %.cpp $(OUT)/sources.h.gch
	@$(COMPILE) $(or $(OPTIMISED),$(FLAGS:-O3=-O1)) -include $(OUT)/sources.h -MMD -MP -c $< -o $@

$(ARCHIVE): $(LIBRARY:%.cpp=$(OUT)/%.o)
	@rm -f $@
	@$(AR) rc $@ $^

-include $(wildcard $(OUT)/*/*/*.d)

# ---- lessons
$(OUT)/lessons/%/lesson: $(OUT)/lessons/%/lesson.o $(ARCHIVE)
	@$(CXX) $(FLAGS) $^ -o $@
$(OUT)/lessons/%/experiment: $(OUT)/lessons/%/experiment.o $(ARCHIVE)
	@$(CXX) $(FLAGS) $^ -o $@
# The programs of a lesson: not every one has an experiment.
programs = $(patsubst lessons/%.cpp,$(OUT)/lessons/%,$(wildcard $(foreach l,$(1),lessons/$(l)/lesson.cpp lessons/$(l)/experiment.cpp)))

define lesson_rules
.PHONY: $(foreach n,$(1) $(2) $(3),$(n) $(n)-experiment $(n)-accept)
$(sort $(1) $(2) $(3)): $(OUT)/lessons/$(1)/lesson
	@$(RUN) $(OUT)/lessons/$(1)/lesson
$(sort $(1)-experiment $(2)-experiment $(3)-experiment): $(filter %/experiment,$(call programs,$(1)))
	@$(if $(filter %/experiment,$(call programs,$(1))),$(RUN) $(OUT)/lessons/$(1)/experiment,\
	  echo '$(1) has no experiment'; echo 'next: make $(2)'; exit 1)
$(sort $(1)-accept $(2)-accept $(3)-accept): $(call programs,$(1))
	@sh tests/lessons.sh accept $(OUT)/lessons $(1)
endef
# $(4): what the course tool is to do with the lesson.
define course_rules
.PHONY: $(1)-$(4) $(2)-$(4) $(3)-$(4)
$(sort $(1)-$(4) $(2)-$(4) $(3)-$(4)): $(OUT)/course
	@$(RUN) $(OUT)/course $(4) lessons/$(1)
endef
lesson_number = $(firstword $(subst -, ,$(1)))
without_zero = $(patsubst 0%,%,$(1))
$(foreach l,$(LESSONS),$(eval $(call lesson_rules,$(l),$(call lesson_number,$(l)),$(call without_zero,$(call lesson_number,$(l))))))
CHECKED := $(patsubst lessons/%/check.cpp,%,$(wildcard lessons/*/check.cpp))
$(foreach l,$(LESSONS),$(foreach c,hint solution quiz reset $(if $(filter $(l),$(CHECKED)),,check),\
  $(eval $(call course_rules,$(l),$(call lesson_number,$(l)),$(call without_zero,$(call lesson_number,$(l))),$(c)))))

# Step by step: with Enter, and in a debugger.
DEBUG := $(OUT:build/$(MODE)-%=build/debug-%)
define stepping_rules
.PHONY: $(foreach n,$(1) $(2) $(3),$(n)-step $(n)-gdb)
$(sort $(1)-step $(2)-step $(3)-step): $(OUT)/lessons/$(1)/lesson
	@PAUSE=1 $(RUN) $(OUT)/lessons/$(1)/lesson
$(sort $(1)-gdb $(2)-gdb $(3)-gdb):
	@sh src/show/debugger.sh --any
	@test -f $(DEBUG)/libheadway.a || echo 'The first time everything is built once more, for the debugger: about a minute.'
	@$$(MAKE) --no-print-directory MODE=debug $(DEBUG)/lessons/$(1)/lesson
	@sh src/show/debugger.sh $(DEBUG)/lessons/$(1)/lesson
endef
$(foreach l,$(LESSONS),$(eval $(call stepping_rules,$(l),$(call lesson_number,$(l)),$(call without_zero,$(call lesson_number,$(l))))))

# The course tool.
$(OUT)/course: $(OUT)/src/course/main.o $(ARCHIVE)
	@$(CXX) $(FLAGS) $^ -o $@

quiz: $(OUT)/course
	@$(RUN) $(OUT)/course quiz $(patsubst %/quiz.txt,%,$(wildcard lessons/*/quiz.txt))

next status: $(OUT)/course
	@$(RUN) $(OUT)/course $@ $(LESSONS:%=lessons/%)

# ---- exercises. The judge of a lesson is its check with all that it can ask directly; the learner's code is a program
# of its own, with nothing but core in it, under the address sanitizer.
EXERCISE_PROGRAM = build/asan-$(COMPILER)/exercises

define exercise_rules
.PHONY: $(1)-check $(2)-check $(3)-check prove-$(1)
$(OUT)/lessons/$(1)/judge: $(patsubst %.cpp,$(OUT)/%.o,$(wildcard $(foreach f,check solution stub mistakes,lessons/$(1)/$(f).cpp))) $(ARCHIVE)
	@$$(CXX) $$(FLAGS) $$^ $$(CATCH_MAIN) -o $$@
$(OUT)/lessons/$(1)/answers.txt: $(OUT)/lessons/$(1)/judge $(OUT)/course
	@$(OUT)/course table lessons/$(1) $(OUT)/lessons/$(1)/judge $$@
$(sort $(1)-check $(2)-check $(3)-check): $(OUT)/course $(OUT)/lessons/$(1)/answers.txt
	@$(OUT)/course splice lessons/$(1) build/exercises/$(1).cpp
	@$$(MAKE) --no-print-directory MODE=asan COURSE=$(OUT)/course $(EXERCISE_PROGRAM)/$(1)
	@$(OUT)/course check lessons/$(1) $(OUT)/lessons/$(1)/judge $(EXERCISE_PROGRAM)/$(1) $(OUT)/lessons/$(1)/answers.txt
prove-$(1): $(OUT)/course $(OUT)/lessons/$(1)/answers.txt
	@$(OUT)/course prove lessons/$(1) $(OUT)/lessons/$(1)/judge $(OUT)/lessons/$(1)/answers.txt
endef
$(foreach l,$(CHECKED),$(eval $(call exercise_rules,$(l),$(call lesson_number,$(l)),$(call without_zero,$(call lesson_number,$(l))))))
ifeq ($(MAKELEVEL)$(wildcard $(EXERCISE_PROGRAM)/core.a),0)
$(if $(filter %-check,$(MAKECMDGOALS)),$(info The first check builds more than later ones: core under the sanitizer, and the judge. A minute or two.))
endif

# A stub does not use what it is given.
$(OUT)/lessons/%/stub.o: OPTIMISED = $(FLAGS) -Wno-unused-parameter
# So that the line of an exercise that throws is known; not every linker can.
WRAP = $(if $(filter Linux,$(shell uname)),-Wl$(comma)--wrap=__cxa_throw)
comma := ,
FLAGS_OF_EXERCISE = $(FLAGS) -D_GLIBCXX_ASSERTIONS -Wno-unused-parameter

$(OUT)/exercises/core.a: $(patsubst %.cpp,$(OUT)/%.o,$(wildcard src/core/*.cpp src/fast/*.cpp) $(foreach f,wire candidate serve,src/course/$(f).cpp))
	@mkdir -p $(@D); rm -f $@; $(AR) rc $@ $^

$(OUT)/exercises/%: build/exercises/%.cpp $(OUT)/exercises/core.a
	@echo '  compile lessons/$*/exercise.cpp'
	@rm -f $@
	@LC_ALL=C $(CXX) $(FLAGS_OF_EXERCISE) -include $(OUT)/sources.h $^ $(WRAP) -o $@ 2> $@.log; status=$$?; \
	  $(COURSE) explain lessons/$* $@.log; exit $$status

$(OUT)/same_pictures: $(OUT)/tests/pictures/same.o
	@$(CXX) $(FLAGS) $^ -o $@

lessons: $(call programs,$(LESSONS)) $(OUT)/same_pictures
	@RUN='$(RUN)' SAME='$(OUT)/same_pictures' sh tests/lessons.sh compare $(OUT)/lessons $(LESSONS)

.DEFAULT:
	@echo "make $@: no such lesson or command. The lessons:"
	@echo '  $(LESSONS)'
	@echo 'next: make'
	@exit 2

# ---- tests
# Catch2 brings a ready-made main: in version 3 always, in version 2 on Debian. Elsewhere it is compiled here.
links = $(shell printf '' | $(CXX) -x c++ - $(1) -o /dev/null 2>/dev/null && echo $(1))
CATCH_MAIN = $(or $(call links,-lCatch2Main -lCatch2),$(call links,-lCatch2WithMain),$(OUT)/catch_main.cpp)

$(OUT)/catch_main.cpp: $(OUT)/flags
	@echo '#include "catch.h"' | $(CXX) $(FLAGS) -x c++ -fsyntax-only - 2>/dev/null || { \
	  echo 'Catch2 is missing. Debian, Ubuntu: apt-get install catch2    macOS: brew install catch2'; exit 2; }
	@printf '#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n' > $@

$(OUT)/tests.h.gch: $(OUT)/catch_main.cpp

$(OUT)/tests/all: $(TESTS:%.cpp=$(OUT)/%.o) $(ARCHIVE)
	@$(CXX) $(FLAGS) $^ $(CATCH_MAIN) -o $@

test-one-mode: $(OUT)/tests/all
	@echo 'tests, $(MODE) build:'
	@$(RUN) $(OUT)/tests/all

test: test-one-mode prove
	@$(MAKE) --no-print-directory MODE=double test-one-mode
	@$(MAKE) --no-print-directory test-course
	@$(MAKE) --no-print-directory test-gdb

# Every exercise: its solution passes, its stub fails every test, every mistake is rejected and told from the others.
prove: $(CHECKED:%=prove-%)

# A learner's way through an exercise, and what can go wrong on it.
test-course:
	@$(if $(RUN),echo 'course: not run with RUN set',MAKE='$(MAKE)' CXX='$(CXX)' sh tests/course.sh)

# What the READMEs say one sees in gdb.
test-gdb:
	@MAKE='$(MAKE)' DEBUG='$(DEBUG)' sh tests/gdb.sh

asan tsan:
	@ASAN_OPTIONS=allocator_may_return_null=1 TSAN_OPTIONS=allocator_may_return_null=1 $(MAKE) --no-print-directory MODE=$@ test-one-mode

# ---- the same bits everywhere
$(OUT)/bits: $(OUT)/tests/bits/bits.o $(ARCHIVE)
	@$(CXX) $(FLAGS) $^ -o $@

bits-one-mode: $(OUT)/bits
	@$(RUN) $(OUT)/bits

bits:
	@MAKE='$(MAKE)' sh tests/bits/bits.sh

# ---- case folders
CASES :=
VERBOSE :=
$(OUT)/conformance: $(patsubst %.cpp,$(OUT)/%.o,$(wildcard tests/conformance/*.cpp)) $(ARCHIVE)
	@$(CXX) $(FLAGS) $^ -o $@

conformance: $(OUT)/conformance
	@test -n '$(CASES)' || { echo 'make conformance: name the folder: make conformance CASES=dir'; exit 2; }
	@$(RUN) $(OUT)/conformance '$(CASES)' $(if $(VERBOSE),-v)

# ---- speed
ONLY :=
PAIRS :=
BENCH := $(filter-out %/libtorch_step.cpp,$(wildcard tests/bench/*.cpp))
$(OUT)/bench: $(BENCH:%.cpp=$(OUT)/%.o) $(ARCHIVE)
	@$(CXX) $(FLAGS) $^ -ldl -o $@

# A peer, where libtorch is installed.
LIBTORCH := $(wildcard /usr/include/torch/csrc/api/include)
build/libtorch_step: tests/bench/libtorch_step.cpp
	@echo '  compile $< (25 seconds)'; mkdir -p build
	@$(CXX) -std=c++17 -O2 -w -I$(LIBTORCH) $< -ltorch -ltorch_cpu -lc10 -ldl -o $@ || echo '  left out: libtorch'

bench: $(OUT)/bench $(if $(LIBTORCH),$(if $(filter-out s st ste step,$(ONLY)),,build/libtorch_step))
	@CXX='$(CXX)' ONLY='$(ONLY)' PAIRS='$(PAIRS)' $(OUT)/bench

# ---- housekeeping
format:
	@clang-format -i $(wildcard src/*/*.h src/*/*.cpp lessons/*/*.cpp tests/*.h tests/*/*.h tests/*/*.cpp)

lint:
	@sh tests/lint.sh

clean:
	rm -rf build

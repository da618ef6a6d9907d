# The verbs people type. The modules are those of go.work; nothing here repeats them.

GO ?= go
MODULES = $(notdir $(shell $(GO) list -m -f '{{.Dir}}'))
empty :=
space := $(empty) $(empty)
comma := ,

FUZZTIME ?= 1m

.PHONY: help tour test race statistics check real bench bench-short bench-once rivals figures headlines fuzz readme vuln release-check modules clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z%-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

tour: ## the main job: run the tools end to end on real input and show what came out
	@$(GO) run -tags develop ./tools/cmd/tour

# gotestsum names what failed and what was skipped, and counts all in its last line. A
# failure hides nothing: every package runs. TestReal... drives a component that make real
# installs; TestStatistics... needs thousands of draws. checkptr, part of -race, would end
# the process at gomlx's pointer arithmetic; network training (//go:build !race) is too slow
# there. With -short, properties draw a fifth as often, and what one thread computes, or C, is
# skipped: the detector finds nothing there. A machine may have other work: much time for each
# package.
SUM = mkdir -p $(CURDIR)/out/test && GORACE=atexit_sleep_ms=10 $(CURDIR)/out/bin/gotestsum --format pkgname --jsonfile $(CURDIR)/out/test
TESTS = -vet=off -timeout=1h
REST = $(TESTS) -skip "^Test(Real|Statistics)"
RACE = -race -short -gcflags=github.com/gomlx/compute/...=-d=checkptr=0
folders = $(addprefix ./,$(sort $(dir $(shell grep -rl --include='*_test.go' '^func $(1)' $(MODULES)))))

out/bin/gotestsum: tools/pinned/go.mod
	@cd tools/pinned && GOWORK=off $(GO) build -o ../../out/bin/ gotest.tools/gotestsum

test: out/bin/gotestsum ## every test
	@$(SUM)/test.json -- $(REST) work

race: out/bin/gotestsum ## the same tests under the race detector, with -short
	@$(SUM)/race.json -- $(REST) $(RACE) work

statistics: out/bin/gotestsum ## tests that need thousands of draws: coverage of intervals, Monte Carlo, long fits
	@$(SUM)/statistics.json -- $(TESTS) -run '^TestStatistics' $(call folders,TestStatistics)

test-%: out/bin/gotestsum ## one module alone, as its own user builds it
	@cd $* && export GOWORK=off && $(SUM)/$*.json -- $(REST) ./...

check: ## formatting, vet, staticcheck, tidy modules, layers, docs, static builds, a clean tree after
	@tools/check.sh $(STEPS)

# Tests of mirage wait for a Slurm's jobs; all others measure.
REAL = -count=1 -timeout=2h -run=^TestReal
real: out/bin/gotestsum ## install the real components and run the tests that drive them
	@tools/install.sh
	@$(SUM)/real.json -- $(REAL) -p=1 $(filter-out ./mirage/%,$(call folders,TestReal)); measured=$$?; \
	$(SUM)/slurm.json -- $(REAL) -p=3 $(filter ./mirage/%,$(call folders,TestReal)) && exit $$measured
	@! grep '"Action":"skip","Package":"[^"]*","Test"' out/test/real.json out/test/slurm.json

bench: ## benchmarks, in the form that benchstat reads
	$(GO) test -run '^$$' -bench . -benchmem work

# The packages with short benchmarks: ten minutes for a machine of CI, with the builds.
SHORT = allox-est/internal/schedule/matching chamtool/internal/perfmodel chamtool/internal/event chamtool/internal/session chamtool/internal/task \
	deft/internal/simulator edgeprof/internal/placement mirage/internal/trace shared/regression/linear shared/timing shared/uncertainty

bench-short: ## the short benchmarks six times, as benchstat wants them
	@$(GO) test -run '^$$' -bench . -benchtime 100ms -count 6 $(addprefix ./,$(SHORT))

bench-once: ## every benchmark once, with -short only smaller sizes: they still run
	$(GO) test -vet=off -short -run '^$$' -bench . -benchtime 1x $(call folders,Benchmark)

rivals: ## install and run what else people use beside the tools, in turn; out/rivals.json
	-@tools/install.sh tools/rivals.txt
	@$(GO) run -tags develop ./tools/cmd/rivals

figures: ## run the commands of the stored results that repeat, or of RESULT, and look for their figures
	@$(GO) test -count=1 -timeout=3h -run TestFiguresAgain -v ./tools/docs -again "$(or $(RESULT),all)"

headlines: ## run the commands of the papers' claims again (tools/docs/headlines.md)
	@$(MAKE) --no-print-directory figures RESULT="$$(grep -oE '\(\.\./\.\./[^)]*\.json' tools/docs/headlines.md | sed 's,^(../../,,' | sort -u | tr '\n' ' ')"

fuzz: ## every fuzz target for FUZZTIME (1m)
	@grep -rHoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' $(MODULES) | sed 's,/[^/]*:func , ,' | while read dir name; do \
		echo "$$dir $$name"; $(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) ./$$dir || exit 1; done

readme: ## write the measured block of README.md from the last tour and test
	@$(GO) run -tags develop ./tools/cmd/readme

vuln: ## known vulnerabilities in what the programs call; their database is fetched
	cd tools/pinned && GOWORK=off $(GO) build -o ../../out/bin/ golang.org/x/vuln/cmd/govulncheck
	$(foreach m,$(MODULES),cd $(CURDIR)/$(m) && $(CURDIR)/out/bin/govulncheck ./... &&) true

release-check: ## rehearse a release of the last commit below out/release
	$(GO) test -count=1 -timeout=1h -run TestRehearsal -v ./tools/release -rehearse v0.1.0

modules: ## the modules as a JSON list, for the CI matrix
	@echo '[$(subst $(space),$(comma),$(patsubst %,"%",$(MODULES)))]'

clean: ## remove what was built and measured
	rm -rf out

#!/usr/bin/env bash
# Static checks of the project: all in order, or those named as arguments. A step fails
# if it prints a finding or a command in it fails. `make check` runs this.
set -euo pipefail
cd "$(dirname "$0")/.."

steps="gofmt layers docs builds figures form prose tidy versions vet alone pinned imports staticcheck actionlint static dead clean"
ours=github.com/foretime/foretime
bin=$PWD/out/bin
modules=$(go list -m -f '{{.Dir}}')
modules=${modules//$PWD\//}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

code() { find $modules -name '*.go' ! -path '*/testdata/*'; }
commands() { ls -d ./*/cmd/*; }
# each runs a command in every module; its findings, on stdout, start with the module's
# name. What it says on stderr, such as "go: downloading ...", is no finding.
each() {
	failures=0
	for module in $modules; do
		(cd "$module" && "$@") | sed "s,^,$module: ," || { echo "$module: failed: $*" >&2; failures=1; }
	done
	return $failures
}
# tested runs tests of a package of tools and prints the errors.
tested() { go test -count=1 -run "$2" "./tools/$1" | sed -E '/^ *(ok|FAIL|--- FAIL|exit status)/d; s/^ *[a-z_]+_test.go:[0-9]+: //'; }

step_gofmt() { code | xargs gofmt -l; }
step_layers() { tested layers .; }
step_docs() {
	(cd tools/pinned && GOWORK=off go tool revive -config ../revive.toml -set_exit_status $(printf '../../%s/... ' $modules)) | sed 's,^\.\./\.\./,,'
}
step_builds() { tested docs Project/builds; }
step_figures() { tested docs Project/figures; }
step_form() { tested docs Project/form; }
step_prose() { tested docs Project/prose; }
step_tidy() { GOWORK=off each go mod tidy -diff; }
# A module built alone has the versions of the workspace, in which it is tested. To fix a
# difference, run `go work sync` and `go mod tidy`.
step_versions() {
	for module in $modules; do
		for work in "" off; do
			(cd "$module" && GOWORK=$work go list -deps -f "{{with .Module}}{{if .Version}}$module: alone it builds with {{.Path}} {{.Version}}{{end}}{{end}}" ./... | sort -u) >"$scratch/versions$work"
		done
		comm -13 "$scratch/versions" "$scratch/versionsoff" | sed "\, $ours,d"
	done
}
step_vet() { go vet -tags develop work; }
step_alone() { GOWORK=off each go build -tags develop ./... && GOWORK=off each go vet -tags develop ./...; }
step_pinned() { (cd tools/pinned && GOWORK=off go build -o "$bin/" tool); }
# Imports are grouped: standard library, third parties, ours.
step_imports() { code | xargs "$bin/gci" list -s standard -s default -s "prefix($ours)"; }
step_staticcheck() { each "$bin/staticcheck" -tags develop ./...; }
step_actionlint() { "$bin/actionlint" -shellcheck= -pyflakes=; }
# All commands but two are built without cgo, for both architectures.
step_static() {
	for arch in amd64 arm64; do
		CGO_ENABLED=0 GOOS=linux GOARCH=$arch go build -tags develop -o /dev/null $(commands | sed '/\/libchamtool$/d; /\/edgeprof-ort$/d')
	done
}
# Functions that no command reaches, and packages that no command imports, except test
# kits, below testkit. A package with only a doc.go has no code.
step_dead() {
	go list -tags develop -deps $(commands) | sort >"$scratch/used"
	go list -f '{{if and .GoFiles (ne (join .GoFiles " ") "doc.go") (ne .Name "main")}}{{.ImportPath}}{{end}}' work | sort >"$scratch/all"
	comm -13 "$scratch/used" "$scratch/all" | sed '/^$/d; \,/testkit/,d; s,$,: no command imports it,'
	"$bin/deadcode" -tags deadcode,develop -filter "$ours" $(commands)
}
# Uncommitted changes that were not there before, such as in go.work.sum.
step_clean() { changes | comm -13 "$scratch/before" -; }
changes() { (git status --porcelain && git diff HEAD --numstat || true) 2>/dev/null | sort; }

changes >"$scratch/before"
for name in $*; do
	[[ " $steps " == *" $name "* ]] || { echo "check: no step is called \"$name\"; the steps are: $steps" >&2; exit 2; }
done
failed=0
for name in ${*:-$steps}; do
	start=$EPOCHREALTIME verdict=ok
	set +e
	(set -e && "step_$name") >"$scratch/found" 2>"$scratch/error"
	status=$?
	set -e
	[ $status -eq 0 ] || cat "$scratch/error" >>"$scratch/found"
	if [ $status -ne 0 ] || [ -s "$scratch/found" ]; then
		verdict=FAILED failed=$((failed + 1))
	fi
	awk -v n="$name" -v v=$verdict -v s="$start" -v e="$EPOCHREALTIME" 'BEGIN {printf "%-14s %-7s %6.1f s\n", n, v, e - s}'
	sed 's,^,    ,' "$scratch/found"
done
[ $failed -eq 0 ] || { echo "check: $failed steps failed" >&2; exit 1; }

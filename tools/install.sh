#!/usr/bin/env bash
# Installs the real components that tests use: those in the modules' real.txt, and in
# further such files given as arguments. One package per line, "apt NAME" or "pip
# NAME==VERSION"; # starts a comment. Debian packages go into the system, those of pip
# below out/real. `make real` runs this.
set -euo pipefail
cd "$(dirname "$0")/.."

into=$PWD/out/real
files=("$@" */real.txt)
lines=$(awk '{sub(/#.*/, "")}
	!NF || ($1 == "apt" && NF == 2) || ($1 == "pip" && NF == 2 && $2 ~ /.==./) {
		if (NF && !seen[$1, $2]++) print $1, $2
		next
	}
	{printf "%s:%d: want \"apt NAME\" or \"pip NAME==VERSION\", found \"%s\"\n", FILENAME, FNR, $0 >"/dev/stderr"; exit 2}' "${files[@]}")
apt=$(awk '$1 == "apt" {print $2}' <<<"$lines")
pip=$(awk '$1 == "pip" {print $2}' <<<"$lines")
[ -z "$pip" ] || python3 -m pip --version >/dev/null 2>&1 || apt+=" python3-pip"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# quietly prints a command line, and its output only if it fails.
quietly() {
	echo "$@"
	"$@" >"$log" 2>&1 </dev/null || { cat "$log" >&2; exit 1; }
}
mkdir -p "$into"
if [ -n "$apt" ]; then
	sudo=
	[ "$(id -u)" = 0 ] || sudo="sudo --preserve-env=DEBIAN_FRONTEND"
	export DEBIAN_FRONTEND=noninteractive
	quietly $sudo apt-get update
	quietly $sudo apt-get install -y --no-install-recommends $apt
fi
for name in $pip; do
	[ ! -d "$into/pip/$name" ] || continue
	rm -rf "$into/pip/$name.part"
	quietly python3 -m pip install --only-binary=:all: --no-deps --target "$into/pip/$name.part" "$name"
	mv "$into/pip/$name.part" "$into/pip/$name"
done

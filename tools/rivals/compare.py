#!/usr/bin/python3
"""Compares the tools with alternatives, alternating between the two, and prints one
JSON object per row, or {"skipped": reason} if a rival is not installed.

    compare.py [NAME...]

runs at the root of the checkout; NAME selects comparisons. It builds the tools
into out/rivals/bin."""
import json
import os
import sys

sys.dont_write_bytecode = True

import compare_alloxest as alloxest
import compare_chamtool as chamtool
import compare_deft as deft
import compare_edgeprof as edgeprof
import compare_mirage as mirage
import compare_progress as progress
import compare_shared as shared
import rows
from rows import BIN, run

COMPARISONS = [
    shared.xgboost, edgeprof.servers, chamtool.models, chamtool.short_tasks, deft.gate,
    edgeprof.profile, mirage.test_only, mirage.start, alloxest.rest, progress.remaining, edgeprof.boards,
]


def build():
    for tool in "allox-est", "chamtool", "deft", "edgeprof":
        run("go", "build", "-o", BIN + "/", f"./{tool}/cmd/{tool}")
    run("go", "build", "-buildmode=c-shared", "-o", BIN + "/libchamtool.so", "./chamtool/cmd/libchamtool")


def main(names):
    known = {c.__name__.replace("_", "-"): c for c in COMPARISONS}
    for name in names:
        if name not in known:
            sys.exit(f"no comparison is called {name}; there are {', '.join(known)}")
    os.makedirs(BIN, exist_ok=True)
    build()
    for name, compare in known.items():
        if name in (names or known):
            print(name, "...", file=sys.stderr, flush=True)
            rows.load = os.getloadavg()[0]
            try:
                compare()
            except Exception as e:
                print(json.dumps({"skipped": f"{name}: {e}"}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

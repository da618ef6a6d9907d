#!/bin/sh
# run.sh EPOCHS --cpu --numThreads N | --gpu --numGPUs N
exec "${PYTHON:-python3}" "$(dirname "$0")/train.py" "$@"

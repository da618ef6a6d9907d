"""Runs the program of the package: python3 -m PACKAGE."""

import os
import sys

from ._program import program

os.execv(program(), [program(), *sys.argv[1:]])

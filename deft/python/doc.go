// Package python holds deft.py, by which a Python program marks its jobs: it
// decides nothing, and does nothing where libdeft.so is not loaded.
package python

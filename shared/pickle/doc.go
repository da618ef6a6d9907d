// Package pickle reads what Python pickled, as data: nothing is called, imported
// or executed.
//
// It takes the binary opcodes that protocols 2 to 5 use for numbers, text, bytes,
// lists, tuples, dictionaries and objects. An object stays a description, its
// class, arguments and state, and only classes and functions that the caller
// lists may be named. Everything else is refused with its offset in the file.
//
// Source of the format: CPython's Lib/pickletools.py.
package pickle

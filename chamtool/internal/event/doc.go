// Package event reads the events of a running program: those of the Chameleon tools
// interface in its two dialects and of OpenMP, the rings into which the program's threads
// write them, the names of its functions and the frequencies of its cores.
//
// A [Slot] is four 64-bit words in native byte order, with sizes in further slots; slots of
// an unknown kind are invalid, see [Slot.Valid]. One thread writes a [Ring] and one goroutine
// reads it, without a lock and without a call between them: the writer publishes its head and
// the reader its tail, both as atomic words of the ring's header. The memory belongs to C
// ([AttachRing]). A writer that finds the ring full drops its event and counts it; it never
// waits. OpenMP tasks whose events have no room are counted by construct instead, with their time
// ([Ring.Unread]).
//
// [Symbols] gives a function the same name on every rank and in every run, and another name
// after the program was rebuilt: the name contains the build id that the linker wrote, or
// else a checksum of the code. An address inside a function, or in a file without symbols,
// has no name.
//
// [ReadFrequencies] reads sysfs, one small file per core, or else /proc/cpuinfo, which takes
// about 0.1 ms and must therefore not be read for each task. If neither has frequencies, the
// error is [ErrFrequency].
package event

// Package event is what reaches Go of a running program: the events of the
// Chameleon tools interface in its two dialects, the rings that the program's
// threads write them into, the names of its functions and the frequencies of its
// cores.
//
// A [Slot] is four 64-bit words in native byte order, sizes in further slots;
// slots of an unknown kind are refused, see [Slot.Valid]. One thread writes a
// [Ring] and one goroutine reads it, without a lock and without a call between
// them: the writer publishes its head, the reader its tail, both as atomic words
// of the ring's header. The memory may belong to C ([AttachRing]) or to Go
// ([NewRing], for replays and tests). A writer that finds the ring full drops its
// event and counts it; the package refuses to make it wait.
//
// [Symbols] name a function so that the name means the same one on every rank and
// in every run, and no other one after the program was built anew: by the build id
// that the linker wrote, or by a checksum of the code where there is none. An
// address inside a function, or in a file without symbols, has no name.
//
// [ReadFrequencies] reads sysfs, one small file a core, else /proc/cpuinfo, which
// costs about a tenth of a millisecond and so must never be read for a task. Where
// neither tells, the answer is [ErrFrequency].
package event

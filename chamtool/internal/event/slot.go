package event

import "math"

// Kind says what happened.
type Kind uint8

// The kinds of slots. The numbers are shared with the C side (tool.h).
const (
	ThreadStart Kind = iota + 1 // a worker joined
	Create                      // a task was created; its sizes follow
	Run                         // a task ran: the ticks begin it; those of the runs and waits within it that have no event may follow
	Lost                        // a task whose start or end was not heard
	WaitStart                   // a worker came to a taskwait or a barrier
	WaitEnd                     // a worker left it
	Load                        // patched: the load of an iteration, as float64 bits
	Arrive                      // a task that was not created here begins, its sizes follow
	Announce                    // patched: a task was created; the token is its address in memory
	Claim                       // patched: an announced task begins and gets its token, its sizes follow
	Open                        // OpenMP: a task was created; its sizes follow when it begins
	Begin                       // OpenMP: an opened task begins, its sizes follow
	Part                        // OpenMP: a run that goes on later, perhaps on another thread
	Runtimes                    // OpenMP: a task that is the runtime's own, none of the program's
	Cancel                      // OpenMP: a task was discarded before it began
	Give                        // a task is sent to another rank
	lastKind    = Give
)

// Counted is the flag of a WaitEnd with the number of ended iterations in WordRound; without it
// each thread counts its own.
const Counted Flag = 16

// Words is the number of 64-bit words in a slot.
const Words = 4

// The words of an event's first slot. Word 0 is the header.
const (
	WordTicks      = 1 // when, in ticks of the C side's clock
	WordToken      = 2 // the task's identity in this process
	WordEntry      = 3 // Create, Arrive, Open: the address of the task's function
	WordBody       = 3 // Begin: the address of the function that a compiler made of the task
	WordEnd        = 3 // Run, Part: when it ended, in ticks
	WordUnreported = 2 // WaitEnd: ticks of the runs within the wait that have no event
	WordRound      = 3 // WaitEnd of OpenMP: iterations that have ended
	WordValue      = 3 // Load: float64 bits, seconds
	WordAddress    = 3 // Claim: the task's address in memory
)

// MaxSizes is the most sizes of one event, Words of them in every further
// slot. The sizes beyond are summed into the last one.
const MaxSizes = 15 * Words

// Elsewhere is the depth of a Run that another thread than the ring's ran. Tasks nested as deep on
// one thread are Lost.
const Elsewhere = 65535

// Slot is one slot of a ring.
//
// The header, from the low byte up: kind, flag, number of sizes, further
// slots, then a 32-bit number: of a Run where it ran, see [Slot.Core] and [Slot.Depth]; of a Lost
// whether its end was heard, 1, or its start, 0; of a wait the tasks that the
// thread has under way; of a Begin and a Cancel the iteration; else the iteration, thread or
// task number of the patched dialect.
type Slot [Words]uint64

// Kind returns the kind of the event.
func (s *Slot) Kind() Kind { return Kind(s[0]) }

// Flag returns the task's origin.
func (s *Slot) Flag() Flag { return Flag(s[0] >> 8) }

// Sizes returns the number of sizes the event carries.
func (s *Slot) Sizes() int { return int(s[0] >> 16 & 0xff) }

// Number returns the header's 32-bit number.
func (s *Slot) Number() int32 { return int32(s[0] >> 32) }

// Core returns the core that a Run ended on, -1 if unknown.
func (s *Slot) Core() int { return int(s[0]>>32&0xffff) - 1 }

// Depth returns the number of tasks around a Run.
func (s *Slot) Depth() int { return int(s[0] >> 48) }

// Seconds returns the value of a Load event.
func (s *Slot) Seconds() float64 { return math.Float64frombits(s[WordValue]) }

// Slots returns the number of slots the event takes, its first one included.
func (s *Slot) Slots() uint64 { return 1 + s[0]>>24&0xff }

// Valid reports whether the header can be what a writer of this layout wrote.
func (s *Slot) Valid() bool {
	k, n := s.Kind(), s.Sizes()
	return k >= ThreadStart && k <= lastKind && n <= MaxSizes && s.Slots() == 1+uint64(n+Words-1)/Words
}

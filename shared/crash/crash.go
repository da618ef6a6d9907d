package crash

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Error is a caught panic.
type Error struct {
	Value any    // argument of panic
	Stack []byte // of the goroutine that panicked
}

func (e *Error) Error() string { return fmt.Sprintf("internal error: %v", e.Value) }

// Unwrap returns the panic's argument if it is an error, else nil.
func (e *Error) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// asError returns a panic as an error. A panic that was already caught is returned
// unchanged.
func asError(p any) *Error {
	if e, ok := p.(*Error); ok {
		return e
	}
	return &Error{p, debug.Stack()}
}

// Guard turns a panic of the function that defers it into its error.
//
//	func work() (err error) {
//		defer crash.Guard(&err)
func Guard(err *error) {
	if p := recover(); p != nil {
		*err = asError(p)
	}
}

// handler ends the process after a panic in a goroutine started by Go. A panic
// concerns the whole process, so there is one handler.
var handler atomic.Pointer[func(*Error)]

// Handle installs the function that is called with a panic in a goroutine started
// by Go. It should end the process. Nil restores Go's default, a stack on stderr.
func Handle(end func(*Error)) {
	handler.Store(&end)
}

// Go runs f in a goroutine of its own.
func Go(f func()) {
	go func() {
		defer finish()
		f()
	}()
}

func finish() {
	end := handler.Load()
	if end == nil || *end == nil {
		return
	}
	if p := recover(); p != nil {
		(*end)(asError(p))
	}
}

// Group is a set of goroutines that work on one task. The zero value has no limit
// and stops nothing at an error.
type Group struct {
	own  errgroup.Group
	with *errgroup.Group // instead of own, if there is a context
}

// WithContext returns a group and a context that ends at the group's first error or
// panic, or when Wait returns.
func WithContext(ctx context.Context) (*Group, context.Context) {
	group, ctx := errgroup.WithContext(ctx)
	return &Group{with: group}, ctx
}

// SetLimit allows at most n goroutines at a time. Call it before Go.
func (g *Group) SetLimit(n int) { g.group().SetLimit(n) }

// Go runs f in a goroutine, once the limit allows one more. A panic of f becomes
// its error.
func (g *Group) Go(f func() error) {
	g.group().Go(func() (err error) {
		defer Guard(&err)
		return f()
	})
}

// Wait returns the first error once every goroutine has ended.
func (g *Group) Wait() error { return g.group().Wait() }

func (g *Group) group() *errgroup.Group {
	if g.with != nil {
		return g.with
	}
	return &g.own
}

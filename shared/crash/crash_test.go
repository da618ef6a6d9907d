package crash_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"testing"

	"github.com/foretime/foretime/shared/crash"
)

func ExampleGroup() {
	var g crash.Group
	g.SetLimit(2)
	g.Go(func() error { return nil })
	g.Go(func() error { panic("index out of range") })
	fmt.Println(g.Wait())
	// Output: internal error: index out of range
}

func TestGoHandsThePanicOver(t *testing.T) {
	caught := make(chan *crash.Error, 1)
	crash.Handle(func(e *crash.Error) { caught <- e })
	defer crash.Handle(nil)
	crash.Go(func() { panic(io.ErrUnexpectedEOF) })
	e := <-caught
	if e.Error() != "internal error: unexpected EOF" || !errors.Is(e, io.ErrUnexpectedEOF) || len(e.Stack) == 0 {
		t.Errorf("got %v with a stack of %d bytes", e, len(e.Stack))
	}
}

func TestGuardLeavesErrorsAlone(t *testing.T) {
	want := errors.New("as it was")
	got := func() (err error) { defer crash.Guard(&err); return want }()
	if got != want {
		t.Errorf("got %v", got)
	}
}

func TestGuardKeepsWhatWasCaughtBefore(t *testing.T) {
	got := func() (err error) {
		defer crash.Guard(&err)
		var g crash.Group
		g.Go(func() error { panic("boom") })
		panic(g.Wait())
	}()
	if got == nil || got.Error() != "internal error: boom" {
		t.Errorf("got %v", got)
	}
}

func TestGroupEndsItsContext(t *testing.T) {
	g, ctx := crash.WithContext(context.Background())
	g.Go(func() error { <-ctx.Done(); return ctx.Err() })
	g.Go(func() error { panic("boom") })
	var e *crash.Error
	if err := g.Wait(); !errors.As(err, &e) {
		t.Errorf("the first error is %v, want the panic", err)
	}
}

func TestGroupKeepsItsLimit(t *testing.T) {
	var g crash.Group
	g.SetLimit(1)
	var running, most atomic.Int32
	for range 100 {
		g.Go(func() error {
			most.Store(max(most.Load(), running.Add(1)))
			running.Add(-1)
			return nil
		})
	}
	if err := g.Wait(); err != nil || most.Load() != 1 {
		t.Errorf("%d at a time, error %v", most.Load(), err)
	}
}

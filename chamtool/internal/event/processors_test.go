package event_test

import (
	"errors"
	"testing"
	"testing/fstest"
	"time"

	"github.com/foretime/foretime/chamtool/internal/event"
)

func TestReadProcessorUse(t *testing.T) {
	for text, want := range map[string]event.ProcessorUse{
		"cpu  100 20 3 9999 777 4 5 600 0 0\ncpu0 1 1 1 1 1 1 1 1\ncpu1 1 1 1 1 1 1 1 1\nintr 1 2\n": {Busy: 7320 * time.Millisecond, Processors: 2},
		"cpu  1 0 0 1 0 0 0 0\ncpu7 1 0 0 1 0 0 0 0\n":                                               {Busy: 10 * time.Millisecond, Processors: 1},
		"cpu  1 0 0 1 0 0 0\ncpu0 1 0 0 1 0 0 0\n":                                                   {},
		"cpu  1 0 x 1 0 0 0 0\ncpu0 1 0 0 1 0 0 0 0\n":                                               {},
		"cpu  1 0 0 1 0 0 0 0\n":                                                                     {},
		"":                                                                                           {},
	} {
		got, err := event.ReadProcessorUse(fstest.MapFS{"proc/stat": {Data: []byte(text)}})
		if got != want || (err != nil) != (want == event.ProcessorUse{}) || err != nil && !errors.Is(err, event.ErrProcessorUse) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	if _, err := event.ReadProcessorUse(fstest.MapFS{}); !errors.Is(err, event.ErrProcessorUse) {
		t.Error(err)
	}
}

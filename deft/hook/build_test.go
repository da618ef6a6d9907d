package hook_test

import (
	"testing"

	"github.com/foretime/foretime/deft/hook"
)

func TestPrepend(t *testing.T) {
	for _, tt := range []struct {
		environ []string
		want    string
	}{
		{nil, "LIST=/own"},
		{[]string{"LIST="}, "LIST=/own"},
		{[]string{"LIST=/a", "X=1", "LIST=/b", "LISTS=/c"}, "LIST=/own:/b"},
	} {
		got := hook.Prepend(tt.environ, "LIST", "/own")
		if len(got) != len(tt.environ)+1 || got[len(got)-1] != tt.want {
			t.Errorf("%q: %q, want %q at the end", tt.environ, got, tt.want)
		}
	}
}

package cli

import (
	"testing"

	"github.com/foretime/foretime/shared/cli"
)

// The original's flags bring its background load, unless --load says otherwise.
func TestOriginalLoad(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--iterations", "3"}, "none"},
		{[]string{"--device_type", "jetson", "--gpu_needed", "false"}, "stress"},
		{[]string{"--device_type", "jetson", "--load", "none"}, "none"},
	} {
		o := newCollecting()
		c := o.command(&cli.Env{})
		if err := c.ParseFlags(tt.args); err != nil {
			t.Fatal(err)
		}
		o.setOriginal(c)
		if o.load != tt.want {
			t.Errorf("%q: load %q, want %q", tt.args, o.load, tt.want)
		}
	}
}

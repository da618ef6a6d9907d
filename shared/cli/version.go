package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version names the commit a binary was built from, Go and the platform.
func version() string {
	commit, changed := "of no known commit", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				commit = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				changed = ", changed since"
			}
		}
	}
	return fmt.Sprintf("%s%s (%s, %s/%s)", commit, changed, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

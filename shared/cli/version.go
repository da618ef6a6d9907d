package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version names the release and the commit a binary was built from, as far as
// they are known, Go and the platform.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return fmt.Sprintf("%s (%s, %s/%s)", origin(info), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// origin is such as "v0.1.0, commit 1234" or "commit 1234, changed since".
func origin(info *debug.BuildInfo) string {
	var release, commit, changed string
	if v := info.Main.Version; v != "" && v != "(devel)" {
		release = v
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = "commit " + s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = ", changed since"
		}
	}
	switch {
	case release != "" && commit != "":
		return release + ", " + commit + changed
	case release != "":
		return release
	case commit != "":
		return commit + changed
	}
	return "of no known commit"
}

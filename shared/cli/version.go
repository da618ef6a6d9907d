package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// release is the version of a package, such as v0.1.0. The release build sets it
// with the linker (-X), because go build does not know it in a repository of
// several modules.
var release string

// version returns the release and commit of the binary, as far as they are known,
// Go's version and the platform.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	if release != "" {
		info.Main.Version = release
	}
	return fmt.Sprintf("%s (%s, %s/%s)", origin(info), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// origin returns a text such as "v0.1.0, commit 1234" or "commit 1234, changed
// since".
func origin(info *debug.BuildInfo) string {
	var commit, changed string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = "commit " + s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = ", changed since"
		}
	}
	tagged := info.Main.Version != "" && info.Main.Version != "(devel)"
	switch {
	case tagged && commit != "":
		return info.Main.Version + ", " + commit + changed
	case tagged:
		return info.Main.Version
	case commit != "":
		return commit + changed
	}
	return "unknown commit"
}

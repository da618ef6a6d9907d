package cli

import (
	"runtime/debug"
	"testing"
)

func TestOrigin(t *testing.T) {
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "1234"}
	changed := debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	for _, tt := range []struct {
		how, version string
		settings     []debug.BuildSetting
		want         string
	}{
		{"go install MODULE@v0.1.0", "v0.1.0", nil, "v0.1.0"},
		{"go build at a tag", "v0.1.0", []debug.BuildSetting{revision}, "v0.1.0, commit 1234"},
		{"go build of changes", "(devel)", []debug.BuildSetting{revision, changed}, "commit 1234, changed since"},
		{"go build -buildvcs=false", "(devel)", nil, "unknown commit"},
		{"go test", "", nil, "unknown commit"},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: tt.version}, Settings: tt.settings}
		if got := origin(info); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.how, got, tt.want)
		}
	}
}

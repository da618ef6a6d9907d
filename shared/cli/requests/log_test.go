package requests

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/access"
	"github.com/foretime/foretime/shared/cli"
)

func TestLogOfJSON(t *testing.T) {
	var stderr bytes.Buffer
	env := cli.NewEnv(nil, nil, &stderr)
	c := &cobra.Command{Use: "serve"}
	env.LogFormat(c)
	if err := c.ParseFlags([]string{"--log-format", "json"}); err != nil {
		t.Fatal(err)
	}
	env.LogTimes()
	Log(env, access.Request{ID: "7", Method: "GET", Path: "/a b\u202e", Status: 502, Bytes: 12, Took: 1500 * time.Millisecond, Remote: "10.0.0.1:9", Err: errors.New("no \"answer\"\x1b")}, logrus.InfoLevel)
	var line map[string]any
	if err := json.Unmarshal(stderr.Bytes(), &line); err != nil {
		t.Fatalf("%v: %s", err, stderr.Bytes())
	}
	for name, want := range map[string]any{
		"level": "warning", "msg": "request", "id": "7", "method": "GET", "path": "/a b\u202e", "status": 502.0,
		"bytes": 12.0, "took_seconds": 1.5, "remote": "10.0.0.1:9", "error": "no \"answer\"\x1b",
	} {
		if line[name] != want {
			t.Errorf("%s is %v, want %v", name, line[name], want)
		}
	}
	if _, err := time.Parse(cli.LogTime, line["time"].(string)); err != nil {
		t.Error(err)
	}
	if bytes.ContainsAny(stderr.Bytes(), "\x1b\u202e") || bytes.Count(stderr.Bytes(), []byte("\n")) != 1 {
		t.Errorf("%q", stderr.Bytes())
	}
	if err := c.ParseFlags([]string{"--log-format", "xml"}); err == nil {
		t.Error("xml is a format")
	}
}

package cli_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/testkit/scripttest"
)

var halfOpen = flag.Int("half-open", 5000, "connections that send half of a request each")

func TestMain(m *testing.M) {
	scripttest.Main(m, "hello-server", helloServer, nil)
}

// helloServer returns a command that serves as the tools do.
func helloServer(env *cli.Env) *cobra.Command {
	var at cli.Listener
	c := &cobra.Command{Use: "hello-server", RunE: func(c *cobra.Command, _ []string) error {
		hello := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })
		return at.Serve(c.Context(), env, cli.BoundServer(env, hello))
	}}
	at.Flags(c, "127.0.0.1:0")
	return c
}

// TestHalfOpenConnections opens many connections with half of a request: only the
// youngest are kept, for a limited time, and other clients are answered.
func TestHalfOpenConnections(t *testing.T) {
	cert, key, trusted := scripttest.Certificate(t)
	for scheme, flags := range map[string][]string{"http": nil, "https": {"--tls-cert", cert, "--tls-key", key}} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			server, url := serve(t, flags...)
			client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}, DisableKeepAlives: true}}
			answered := func() {
				t.Helper()
				r, err := client.Get(url)
				if err != nil {
					t.Fatal(err)
				}
				defer r.Body.Close()
				if text, err := io.ReadAll(r.Body); string(text) != "hello" {
					t.Fatalf("%q %v", text, err)
				}
			}
			answered()
			before := peak(t, server)
			var clients []net.Conn
			for i := range *halfOpen {
				c, err := net.Dial("tcp", strings.TrimPrefix(url, scheme+"://"))
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				if _, err := io.WriteString(c, map[string]string{"http": "GET / HTTP/1.1\r\nHost: x\r\n", "https": "\x16\x03\x01\x02"}[scheme]); err != nil {
					t.Fatal(err)
				}
				clients = append(clients, c)
				if i%(*halfOpen/10) == 0 {
					answered()
				}
			}
			after := peak(t, server)
			kept := open(t, server)
			t.Logf("%d half-open connections: %d kept, peak memory %.1f MB, %.1f MB before", *halfOpen, kept, after/1e6, before/1e6)
			if kept > 4096+100 {
				t.Errorf("%d files and connections are open", kept)
			}
			for _, c := range clients { // each is closed, the last when the time for headers ends
				if err := c.SetReadDeadline(time.Now().Add(2 * time.Minute)); err != nil {
					t.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, c); os.IsTimeout(err) {
					t.Fatal("the server keeps a half-open connection")
				}
			}
			answered()
		})
	}
}

// serve starts the server as a process of its own.
func serve(t *testing.T, flags ...string) (*exec.Cmd, string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, "hello-server", flags...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return cmd, strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
}

// open counts the files and connections that a process has.
func open(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// peak returns the largest memory use of a process, in bytes.
func peak(t *testing.T, cmd *exec.Cmd) float64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	if err != nil {
		t.Skip("memory of a process: ", err)
	}
	_, line, _ := strings.Cut(string(text), "VmHWM:")
	kB, err := strconv.ParseFloat(strings.Fields(line)[0], 64)
	if err != nil {
		t.Fatal(err)
	}
	return kB * 1024
}

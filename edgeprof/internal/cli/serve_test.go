package cli_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	edgeprof "github.com/foretime/foretime/edgeprof/internal/cli"
	"github.com/foretime/foretime/shared/testkit/scripttest"
)

// running is edgeprof as a process of its own.
type running struct {
	t      *testing.T
	cmd    *exec.Cmd
	url    string
	stderr bytes.Buffer // to be read after the end
}

// start runs an edgeprof command that listens, and waits until it does.
func start(t *testing.T, args ...string) *running {
	t.Helper()
	args = append(args, "--address", "127.0.0.1:0")
	if args[0] == "serve" { // a busy machine is no slow source
		args = append(args, "--set", "source.timeout=1m")
	}
	r := &running{t: t, cmd: exec.Command("edgeprof", args...)}
	home := t.TempDir()
	r.cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home)
	r.cmd.Stderr = &r.stderr
	stdout, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.cmd.Process.Kill(); _ = r.cmd.Wait() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		_ = r.cmd.Wait()
		t.Fatalf("%q %v\n%s", line, err, &r.stderr)
	}
	r.url = url
	return r
}

// signal sends one.
func (r *running) signal(s os.Signal) {
	r.t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		r.t.Fatal(err)
	}
}

// get asks and decodes the answer's JSON; the status is returned.
func (r *running) get(path string, into any) int {
	r.t.Helper()
	response, err := http.Get(r.url + path)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(into); err != nil {
		r.t.Fatal(err)
	}
	return response.StatusCode
}

// until waits for something to become true.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not in five minutes", what)
		}
	}
}

// A request that is half sent when SIGTERM comes is answered, and the process
// ends well; meanwhile it says that it is about to end, and takes no connection.
func TestTermDuringARequest(t *testing.T) {
	r := start(t, "serve", "--source", "local", "--drain", "5m")
	body := `{"model":"m","conv_layers":1,"pool_layers":1,"fc_layers":1,"filter_details":1,"total_parameters":1,"model_input_size":1,"model_output_size":1}`
	connection, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	fmt.Fprintf(connection, "POST /api/profiling HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", len(body))
	answers := bufio.NewReader(connection)
	if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") { // the handler reads
		t.Fatalf("%q %v", line, err)
	}
	if _, err := answers.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	r.signal(syscall.SIGTERM)
	until(t, "no more connections", func() bool {
		c, err := net.Dial("tcp", connection.RemoteAddr().String())
		if err == nil {
			c.Close()
		}
		return err != nil
	})
	if _, err := io.WriteString(connection, body); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != 200 || !strings.Contains(string(text), `"status": "success"`) {
		t.Errorf("%d %v %s", response.StatusCode, err, text)
	}
	if err := r.cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, &r.stderr)
	}
}

// The model is read again at SIGHUP and when its file changes; a broken file
// leaves the old one in use.
func TestHotReload(t *testing.T) {
	built := edgeprof.BuiltinRates()
	path := filepath.Join(t.TempDir(), "model.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path+".new", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	write(string(built))
	for name, watch := range map[string]string{"SIGHUP": "0", "change": "20ms"} {
		t.Run(name, func(t *testing.T) {
			write(string(built))
			r := start(t, "serve", "--source", "local", "--model", path, "--set", "watch="+watch)
			now := func() string {
				var m struct{ SHA256, Path string }
				if code := r.get("/api/v1/model", &m); code != 200 || m.Path != path {
					t.Fatalf("%d %+v", code, m)
				}
				return m.SHA256
			}
			notice := func() {
				if watch == "0" {
					r.signal(syscall.SIGHUP)
				}
			}
			first := now()
			write(string(built) + "\n")
			notice()
			until(t, "the new model", func() bool { return now() != first })
			second := now()
			write("{")
			notice()
			write("{}")
			notice()
			r.signal(syscall.SIGTERM)
			if err := r.cmd.Wait(); err != nil {
				t.Errorf("%v\n%s", err, &r.stderr)
			}
			if second == first || strings.Contains(r.stderr.String(), "panic") {
				t.Errorf("%s", &r.stderr)
			}
		})
	}
}

// Ready with nothing but this machine and the built-in model.
func TestReadyAtOnce(t *testing.T) {
	r := start(t, "serve", "--source", "local")
	var ready struct {
		Status  string
		Devices int
	}
	if code := r.get("/readyz", &ready); code != 200 || ready.Status != "ready" || ready.Devices != 1 {
		t.Errorf("%d %+v", code, ready)
	}
}

// HTTPS with a certificate of one's own, for those who have the token.
func TestTLS(t *testing.T) {
	cert, key, trusted := scripttest.Certificate(t)
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := start(t, "serve", "--source", "local", "--tls-cert", cert, "--tls-key", key, "--token-file", token)
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}}
	for authorization, want := range map[string]int{"": 401, "Bearer wrong": 401, "Bearer secret": 200} {
		request, err := http.NewRequestWithContext(t.Context(), "GET", r.url+"/api/v1/model", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", authorization)
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if !strings.HasPrefix(r.url, "https://") || response.StatusCode != want || response.TLS == nil {
			t.Errorf("%s, %q: %d, want %d", r.url, authorization, response.StatusCode, want)
		}
	}
}

package cli

import (
	"bufio"
	"context"
	"crypto/tls"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/foretime/foretime/shared/testkit/scripttest"
)

// HTTPS with a certificate of one's own, for those who have the token.
func TestServeOverTLS(t *testing.T) {
	cert, key, trusted := scripttest.Certificate(t)
	dir := t.TempDir()
	log, token := filepath.Join(dir, "month.log"), filepath.Join(dir, "token")
	writeLog(t, log, 6)
	if err := os.WriteFile(token, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, "mirage", "serve", log, "--address", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key, "--token-file", token)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cancel(); _ = cmd.Wait() }()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url := strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}}
	for authorization, want := range map[string]int{"": 401, "Bearer wrong": 401, "Bearer secret": 200} {
		request, err := http.NewRequestWithContext(ctx, "GET", url+"/when?nodes=4&limit=12h", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", authorization)
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if !strings.HasPrefix(url, "https://") || response.StatusCode != want || response.TLS == nil {
			t.Errorf("%s, %q: %d, want %d", url, authorization, response.StatusCode, want)
		}
	}
}

package tools

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/foretime/foretime/shared/testkit/porttest"
)

// proxy is a configuration of nginx: two services below paths that it takes away, and one
// below a path that it passes on.
const proxy = `
daemon off; master_process off; pid nginx.pid; error_log stderr notice; worker_processes 1;
events { worker_connections 64; }
http {
	access_log off;
	client_body_temp_path t; proxy_temp_path t; fastcgi_temp_path t; uwsgi_temp_path t; scgi_temp_path t;
	server {
		listen 127.0.0.1:PORT;
		location /tools/edgeprof/ { proxy_pass http://EDGEPROF/; }
		location /tools/mirage/ { proxy_pass http://MIRAGE/; }
		location /node/n1/7001/ { proxy_pass http://BELOW; }
	}
}
`

// loaded matches the addresses that a page or its script loads.
var loaded = regexp.MustCompile(`(?:href=|src=|fetch\()"([^"]+)"`)

// TestRealProxy loads the pages of the services through nginx, below paths, with all that the
// pages and their scripts load in turn.
func TestRealProxy(t *testing.T) {
	if _, err := exec.LookPath("nginx"); err != nil {
		t.Skip("needs nginx: install with apt-get install nginx-light")
	}
	dir := t.TempDir()
	services := serve(t, dir)
	below := start(t, regexp.MustCompile(`http://([0-9.:]+)`), "env", "HOME="+dir, filepath.Join(dir, "edgeprof"),
		"serve", "--address", "127.0.0.1:0", "--token-file", filepath.Join(dir, "token"), "--set", "base-path=/node/n1/7001")
	port := strconv.Itoa(porttest.Free(t))
	config := strings.NewReplacer("PORT", port, "EDGEPROF", services["edgeprof"], "MIRAGE", services["mirage"], "BELOW", below).Replace(proxy)
	at := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(at, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	start(t, regexp.MustCompile(`getrlimit\(RLIMIT_NOFILE\)`), "nginx", "-p", dir, "-c", at, "-e", "stderr")
	for path, needs := range map[string][]string{
		"/tools/edgeprof/": {"page/style.css", "page/script.js", "api/v1/devices", "api/v1/model", "openapi.json"},
		"/tools/mirage/":   {"when?curve=1&"},
		"/node/n1/7001/":   {"page/style.css", "page/script.js", "api/v1/devices", "api/v1/model", "openapi.json"},
	} {
		page, err := url.Parse("http://127.0.0.1:" + port + path)
		if err != nil {
			t.Fatal(err)
		}
		found := loadAll(t, page)
		for _, need := range needs {
			if !found[need] {
				t.Errorf("%s does not load %s: %v", page, need, found)
			}
		}
	}
}

// loadAll loads a page and, relative to it, each address in the page and in its scripts. It returns
// the addresses.
func loadAll(t *testing.T, page *url.URL) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for texts := []string{load(t, page)}; len(texts) > 0; texts = texts[1:] {
		for _, m := range loaded.FindAllStringSubmatch(texts[0], -1) {
			if found[m[1]] || strings.HasPrefix(m[1], "data:") {
				continue
			}
			found[m[1]] = true
			at, err := page.Parse(m[1])
			if err != nil {
				t.Fatal(err)
			}
			text := load(t, at)
			if strings.HasSuffix(at.Path, ".js") {
				texts = append(texts, text)
			}
		}
	}
	return found
}

// load returns what a service with the token secret answers.
func load(t *testing.T, at *url.URL) string {
	t.Helper()
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, at.String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer secret")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("%s: %s: %.200s (%v)", at, response.Status, text, err)
	}
	return string(text)
}

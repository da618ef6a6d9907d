package httpapi

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

func get(t *testing.T, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	pageHandler().ServeHTTP(w, r)
	return w
}

func TestHandler(t *testing.T) {
	for path, kind := range map[string]string{"/": "text/html", "/page/style.css": "text/css", "/page/script.js": "text/javascript", "/page/icon.svg": "image/svg+xml"} {
		w := get(t, path)
		if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), kind) || w.Body.Len() == 0 || !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
		}
		if again := get(t, path, "If-None-Match", w.Header().Get("ETag")); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
			t.Errorf("%s again: %d", path, again.Code)
		}
	}
	for _, path := range []string{"/page/", "/page/index.html", "/page/../page.go", "/other"} {
		if w := get(t, path); w.Code == 200 {
			t.Errorf("%s is served", path)
		}
	}
}

// The page needs nothing from elsewhere, and what its script looks for is there.
func TestPageIsWhole(t *testing.T) {
	html, script, style := get(t, "/").Body.String(), get(t, "/page/script.js").Body.String(), get(t, "/page/style.css").Body.String()
	for name, text := range map[string]string{"index.html": html, "script.js": script, "style.css": style} {
		for _, url := range regexp.MustCompile(`(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}[^\s"']*`).FindAllString(text, -1) {
			if url != "http://www.w3.org/2000/svg" { // a name, not an address
				t.Errorf("%s: %s", name, url)
			}
		}
	}
	for _, m := range regexp.MustCompile(`\bat\("([a-z-]+)"\)`).FindAllStringSubmatch(script, -1) {
		if !strings.Contains(html, `id="`+m[1]+`"`) {
			t.Errorf("no element %q", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`(?:href|src)="([^"]+)"`).FindAllStringSubmatch(html, -1) {
		if m[1] != "openapi.json" && get(t, "/"+m[1]).Code != 200 {
			t.Errorf("%s is not there", m[1])
		}
	}
	// A proxy may serve the page below a path of its own.
	for _, absolute := range regexp.MustCompile(`["']/[a-z][^"']*`).FindAllString(html+script, -1) {
		t.Errorf("%s does not work below a path", absolute)
	}
	if strings.Contains(script, "innerHTML") || strings.Contains(script, "insertAdjacentHTML") {
		t.Error("text of other machines could become HTML")
	}
}

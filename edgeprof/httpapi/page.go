package httpapi

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"net/http"
	"path"
)

//go:embed files
var files embed.FS

// policy lets a browser load from this server alone, and show the page in no
// other's frame.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// asset is a file as it is sent.
type asset struct {
	content []byte
	kind    string
	tag     string // its entity tag
}

// pageHandler serves the page at / and its parts below /page/.
func pageHandler() http.Handler {
	mux := http.NewServeMux()
	for pattern, name := range map[string]string{
		"GET /{$}": "index.html", "GET /page/style.css": "style.css", "GET /page/script.js": "script.js", "GET /page/icon.svg": "icon.svg",
	} {
		mux.Handle(pattern, assetOf(name))
	}
	return mux
}

// assetOf reads an embedded file, which is there.
func assetOf(name string) *asset {
	content, err := files.ReadFile("files/" + name)
	if err != nil {
		panic(err)
	}
	kind := map[string]string{".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}[path.Ext(name)]
	return &asset{content, kind + "; charset=utf-8", fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256(content))[:16])}
}

// ServeHTTP sends the file, or says that the client has it.
func (a *asset) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", a.tag)
	if r.Header.Get("If-None-Match") == a.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", a.kind)
	h.Set("Content-Length", fmt.Sprint(len(a.content)))
	_, _ = w.Write(a.content) // a client that is gone
}

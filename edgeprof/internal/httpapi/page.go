package httpapi

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"net/http"
	"time"
)

//go:embed files
var files embed.FS

// policy lets a browser load from this server alone, and show the page in no
// other's frame.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// pageHandler serves the page at / and its parts below /page/.
func pageHandler() http.Handler {
	mux := http.NewServeMux()
	for pattern, file := range map[string][2]string{
		"GET /{$}": {"index.html", "text/html"}, "GET /page/style.css": {"style.css", "text/css"},
		"GET /page/script.js": {"script.js", "text/javascript"}, "GET /page/icon.svg": {"icon.svg", "image/svg+xml"},
	} {
		content, err := files.ReadFile("files/" + file[0])
		if err != nil {
			panic(err) // it is embedded
		}
		tag := fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256(content))[:16])
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			h := w.Header()
			h.Set("Content-Security-Policy", policy)
			h.Set("X-Content-Type-Options", "nosniff")
			h.Set("Referrer-Policy", "no-referrer")
			h.Set("Cache-Control", "no-cache")
			h.Set("ETag", tag)
			h.Set("Content-Type", file[1]+"; charset=utf-8")
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
		})
	}
	return mux
}

package access

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
)

// service returns a router with a log and a token, and its finished requests.
func service(token string) (http.Handler, *[]Request) {
	var done []Request
	now := time.Unix(1, 0)
	log := Log{
		Now: func() time.Time { now = now.Add(time.Second); return now },
		Fail: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, "internal error", http.StatusInternalServerError)
		},
		Done: func(r Request) { done = append(done, r) },
	}
	r := chi.NewRouter()
	r.Use(log.Handler)
	r.Get("/open", func(http.ResponseWriter, *http.Request) {})
	guarded := r.With(Bearer(func() string { return token }, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	guarded.Get("/answer/{n}", func(w http.ResponseWriter, _ *http.Request) {
		SetError(w, errors.New("a doubt"))
		_, _ = w.Write([]byte("abc"))
	})
	guarded.Get("/panic", func(http.ResponseWriter, *http.Request) { panic("boom") })
	guarded.Get("/abort", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	return r, &done
}

func get(h http.Handler, path string, header ...string) *httptest.ResponseRecorder {
	r, w := httptest.NewRequest(http.MethodGet, path, nil), httptest.NewRecorder()
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	h.ServeHTTP(w, r)
	return w
}

func TestLog(t *testing.T) {
	h, done := service("")
	if w := get(h, "/answer/1", IDHeader, "my-id.1"); w.Header().Get(IDHeader) != "my-id.1" {
		t.Errorf("the client's name became %q", w.Header().Get(IDHeader))
	}
	if r := (*done)[0]; r.ID != "my-id.1" || r.Route != "/answer/{n}" || r.Path != "/answer/1" || r.Status != 200 || r.Bytes != 3 || r.Took != time.Second || r.Err == nil {
		t.Errorf("%+v", r)
	}
	first, second := get(h, "/open", IDHeader, "a b\r\n").Header().Get(IDHeader), get(h, "/open", IDHeader, strings.Repeat("a", 65)).Header().Get(IDHeader)
	if first == "" || first == second || strings.ContainsAny(first, " \r\n") {
		t.Errorf("new names %q and %q", first, second)
	}
	if w := get(h, "/panic"); w.Code != 500 || strings.Contains(w.Body.String(), "boom") {
		t.Errorf("a panic: %d %s", w.Code, w.Body)
	}
	if r := (*done)[3]; r.Status != 500 || r.Err == nil || !strings.Contains(r.Err.Error(), "boom") {
		t.Errorf("%+v", r)
	}
	defer func() {
		if recover() != http.ErrAbortHandler || len(*done) != 5 {
			t.Errorf("an aborted request: %d requests", len(*done))
		}
	}()
	get(h, "/abort")
}

func TestBearer(t *testing.T) {
	h, _ := service("secret")
	for header, status := range map[string]int{"Bearer secret": 200, "bearer secret": 200, "Bearer Secret": 401, "Basic secret": 401, "Bearer": 401, "Bearer secret2": 401, "": 401} {
		w := get(h, "/answer/1", "Authorization", header)
		if w.Code != status || (w.Header().Get("WWW-Authenticate") != "") != (status == 401) {
			t.Errorf("%q: %d, %v", header, w.Code, w.Header())
		}
	}
	if w := get(h, "/open"); w.Code != 200 {
		t.Errorf("an open route wants a token: %d", w.Code)
	}
	open, _ := service("")
	if w := get(open, "/answer/1"); w.Code != 200 {
		t.Errorf("without a token: %d", w.Code)
	}
}

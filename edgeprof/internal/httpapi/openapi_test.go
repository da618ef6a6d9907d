package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-chi/chi/v5"
)

// contract is the API as it is documented.
var contract = sync.OnceValues(func() (*openapi3.T, error) {
	loader := openapi3.NewLoader()
	doc, err := loader.LoadFromData(openAPI)
	if err != nil {
		return nil, err
	}
	return doc, doc.Validate(loader.Context)
})

// checked counts the answers of which the form was checked.
var checked sync.Map

// conforms checks that an answer is documented: its route, its status, its type,
// and the form of its JSON.
func conforms(t testing.TB, r *http.Request, w *httptest.ResponseRecorder) {
	t.Helper()
	doc, err := contract()
	if err != nil {
		t.Fatal(err)
	}
	path := doc.Paths.Find(r.URL.Path)
	if path == nil || path.GetOperation(r.Method) == nil {
		if w.Code != http.StatusNotFound && w.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s %s is not documented", r.Method, r.URL.Path)
		}
		return
	}
	answer := path.GetOperation(r.Method).Responses.Value(strconv.Itoa(w.Code))
	if answer == nil {
		t.Errorf("%s %s: status %d is not documented", r.Method, r.URL.Path, w.Code)
		return
	}
	kind, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
	media := answer.Value.Content.Get(kind)
	if media == nil {
		t.Errorf("%s %s: status %d with %q is not documented", r.Method, r.URL.Path, w.Code, kind)
		return
	}
	if !strings.HasSuffix(kind, "json") {
		return
	}
	// the form of one kind of answer a few times: each check costs a compilation
	key := fmt.Sprint(r.Method, r.URL.Path, w.Code)
	if n, _ := checked.LoadOrStore(key, new(atomic.Int64)); n.(*atomic.Int64).Add(1) > 5 {
		return
	}
	var v any
	err = json.Unmarshal(w.Body.Bytes(), &v)
	if err == nil {
		err = media.Schema.Value.VisitJSON(v, openapi3.EnableJSONSchema2020(), openapi3.VisitAsResponse())
	}
	if err != nil {
		t.Errorf("%s %s: status %d: %v\n%s", r.Method, r.URL.Path, w.Code, err, w.Body)
	}
}

// What is served is documented, and what is documented is served.
func TestRoutes(t *testing.T) {
	doc, err := contract()
	if err != nil {
		t.Fatal(err)
	}
	var documented, served []string
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			documented = append(documented, method+" "+path)
		}
	}
	r := newRig(t, nil)
	err = chi.Walk(r.Handler().(chi.Router), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if route != "/" && route != "/page/*" { // the page is for people
			served = append(served, method+" "+route)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(documented)
	slices.Sort(served)
	if !slices.Equal(documented, served) {
		t.Errorf("documented %q, served %q", documented, served)
	}
}

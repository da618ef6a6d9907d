package httpapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/foretime/foretime/shared/access"
)

// countRequest counts a request and passes it on.
func (s *Service) countRequest(r access.Request) {
	s.metrics.requests.WithLabelValues(r.Route, strconv.Itoa(r.Status)).Inc()
	s.metrics.seconds.WithLabelValues(r.Route).Observe(r.Took.Seconds())
	if s.Observe != nil {
		s.Observe(r)
	}
}

// parameters of each route's query, as the description of the API lists them.
var parameters = sync.OnceValue(func() map[string][]string {
	var api struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name string }
		}
	}
	if err := json.Unmarshal(openAPI, &api); err != nil {
		panic(err) // it is embedded
	}
	all := map[string][]string{}
	for path, methods := range api.Paths {
		for _, m := range methods {
			for _, p := range m.Parameters {
				all[path] = append(all[path], p.Name)
			}
		}
	}
	return all
})

// understood refuses an encoding of the body that is not read, and a parameter that
// the route does not have: it would be ignored.
func understood(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if of := r.Header.Get("Content-Encoding"); of != "" && !strings.EqualFold(of, "identity") {
			problem(http.StatusUnsupportedMediaType, "media-type", fmt.Sprintf("Content-Encoding: %s: want an unencoded body", of)).write(w, r)
			return
		}
		if r.URL.RawQuery != "" {
			have := parameters()[r.URL.Path]
			for _, name := range slices.Sorted(maps.Keys(r.URL.Query())) {
				if !slices.Contains(have, name) {
					problem(http.StatusBadRequest, "parameter", fmt.Sprintf("?%s=: this route accepts %s", name, cmp.Or(strings.Join(have, ", "), "no parameters"))).write(w, r)
					return
				}
			}
		}
		next.ServeHTTP(w, r)
	})
}

package httpapi

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/foretime/foretime/edgeprof/internal/placement"
)

// buffer is memory of one request, used again by the next.
type buffer struct {
	in, out bytes.Buffer
}

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// postProfiling answers as the original does. With ?candidates=all the answer contains all
// devices in addition to the fastest; it says if counts are far outside the known range.
func (s *Service) postProfiling(w http.ResponseWriter, r *http.Request) (any, error) {
	b := buffers.Get().(*buffer)
	defer buffers.Put(b)
	request, err := s.profilingRequest(w, r, b)
	if err != nil {
		return nil, err
	}
	all := false
	if r.URL.RawQuery != "" {
		candidates := r.URL.Query().Get("candidates")
		if all = candidates == "all"; !all && candidates != "" {
			return nil, fmt.Errorf("%w: candidates=%s: want all", errParameter, candidates)
		}
	}
	bound, err := s.fleet(r.Context())
	if err != nil {
		return nil, err
	}
	fastest, err := bound.fleet.Fastest(request.Counts)
	if err != nil {
		return nil, err
	}
	answer := request.Answer(fastest)
	switch {
	case all:
		ranking, err := s.correct(bound.fleet.Profile(request.Counts))
		if err != nil {
			return nil, err
		}
		answer.Candidates = ranking.Candidates
		answer.Excluded = ranking.Excluded
		answer.Warnings = ranking.Warnings
	case !fastest.Seconds.IsBounded():
		ranking, err := bound.fleet.Profile(request.Counts)
		if err != nil {
			return nil, err
		}
		answer.Warnings = ranking.Warnings
	}
	b.out.Reset()
	if err := answer.Write(&b.out); err != nil {
		return nil, err
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(b.out.Len()))
	_, _ = w.Write(b.out.Bytes()) // a client that is gone
	return nil, nil
}

// profilingRequest reads and checks the body.
func (s *Service) profilingRequest(w http.ResponseWriter, r *http.Request, b *buffer) (*placement.Request, error) {
	if kind := r.Header.Get("Content-Type"); kind != "application/json" {
		kind, parameters, _ := mime.ParseMediaType(kind)
		if kind != "application/json" && !(strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json")) {
			return nil, fmt.Errorf("%w: %q, want application/json", errMedia, kind)
		}
		if charset := parameters["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") {
			return nil, fmt.Errorf("%w: charset %q, want utf-8", errMedia, charset)
		}
	}
	b.in.Reset()
	if _, err := b.in.ReadFrom(received{http.MaxBytesReader(w, r.Body, s.MaxRequestBytes)}); err != nil {
		return nil, broken(err)
	}
	request, problems, err := placement.ParseRequest(b.in.Bytes())
	if err != nil {
		return nil, err
	}
	if problems != nil {
		var parts []string // as far as they fit in one line
		for _, p := range problems[:min(len(problems), 8)] {
			parts = append(parts, strings.TrimSpace(strings.TrimPrefix(p.Pointer, "/")+" "+p.Detail))
		}
		p := problem(http.StatusUnprocessableEntity, "fields", strings.Join(parts, "; "))
		p.Errors = problems
		return nil, p
	}
	return request, nil
}

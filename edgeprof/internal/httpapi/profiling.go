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
	"github.com/foretime/foretime/edgeprof/internal/prediction"
)

// buffer is memory of one request, used again by the next.
type buffer struct {
	in  bytes.Buffer
	out []byte
}

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// postProfiling answers as the original does. With ?candidates=all the answer
// has all devices beside the fastest; of counts far outside what is known it says
// so.
func (s *Service) postProfiling(w http.ResponseWriter, r *http.Request) (any, error) {
	b := buffers.Get().(*buffer)
	defer buffers.Put(b)
	request, err := s.profilingRequest(w, r, b)
	if err != nil {
		return nil, err
	}
	all := r.URL.RawQuery != "" && r.URL.Query().Get("candidates") == "all"
	bound, err := s.fleet(r.Context())
	if err != nil {
		return nil, err
	}
	fastest, err := bound.fleet.Fastest(request.Counts)
	if err != nil {
		return nil, err
	}
	var extras []placement.Extra
	if all || !fastest.Seconds.Bounded() {
		if extras, err = s.said(bound.fleet, request.Counts, all); err != nil {
			return nil, err
		}
	}
	if b.out, err = placement.AppendAnswer(b.out[:0], request, placement.Answer{
		Node: fastest.Node, Class: fastest.Class, DeviceModel: fastest.Model, UUID: fastest.UUID, Seconds: fastest.Seconds.Value,
	}, extras); err != nil {
		return nil, err
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(b.out)))
	_, _ = w.Write(b.out) // a client that is gone
	return nil, nil
}

// said is what the original does not say: all candidates where they are asked for,
// and else what is wrong with a time that has no interval.
func (s *Service) said(f prediction.Fleet, c placement.Counts, all bool) ([]placement.Extra, error) {
	if all {
		r, err := s.corrected(f.Profile(c))
		if err != nil {
			return nil, err
		}
		return []placement.Extra{{Name: "profiling_candidates", Value: r.Candidates}, {Name: "profiling_excluded", Value: r.Excluded}, {Name: "profiling_warnings", Value: r.Warnings}}, nil
	}
	warnings, err := f.Warnings(c)
	if err != nil || len(warnings) == 0 {
		return nil, err
	}
	return []placement.Extra{{Name: "profiling_warnings", Value: warnings}}, nil
}

// profilingRequest reads and checks the body.
func (s *Service) profilingRequest(w http.ResponseWriter, r *http.Request, b *buffer) (*placement.Request, error) {
	if kind := r.Header.Get("Content-Type"); kind != "application/json" {
		kind, _, _ := mime.ParseMediaType(kind)
		if kind != "application/json" && !(strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json")) {
			return nil, fmt.Errorf("%w: %q, want application/json", errMedia, kind)
		}
	}
	b.in.Reset()
	if _, err := b.in.ReadFrom(http.MaxBytesReader(w, r.Body, s.MaxRequestBytes)); err != nil {
		return nil, broken(err)
	}
	request, problems, err := placement.ParseRequest(b.in.Bytes())
	if err != nil {
		return nil, err
	}
	if problems != nil {
		p := problem(http.StatusUnprocessableEntity, "fields", fields(problems))
		p.Errors = problems
		return nil, p
	}
	return request, nil
}

// fields are the problems in one line, as far as they fit.
func fields(problems []placement.Problem) string {
	var parts []string
	for _, p := range problems[:min(len(problems), 8)] {
		parts = append(parts, strings.TrimSpace(strings.TrimPrefix(p.Pointer, "/")+" "+p.Detail))
	}
	return strings.Join(parts, "; ")
}

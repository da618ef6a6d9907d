package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/placement"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
)

// placed is the answer of postPlacements for one model.
type placed struct {
	File string `json:"file,omitempty"` // of several
	*placement.Ranking
	Manifest        string   `json:"manifest"`                  // YAML
	Characteristics *counted `json:"characteristics,omitempty"` // of a model that was sent
	// Layers are its kernels on the first device, where ?layers=true asks for them.
	Layers []profiler.Layer `json:"layers,omitempty"`
}

// maxPlaced bounds the models of one request.
const maxPlaced = 64

// postPlacements ranks the devices for a model, or for its counts as JSON, and
// writes the manifest that runs it there. Several models of one form are spread.
// With Accept: application/yaml the answer is the manifests alone.
func (s *Service) postPlacements(w http.ResponseWriter, r *http.Request) (any, error) {
	workload, err := workloadOf(r)
	if err != nil {
		return nil, err
	}
	all, err := s.rank(w, r)
	if err != nil {
		return nil, err
	}
	if err := manifests(workload, all); err != nil {
		return nil, err
	}
	switch {
	case strings.Contains(r.Header.Get("Accept"), "yaml"):
		w.Header().Set("Content-Type", "application/yaml")
		_, _ = w.Write(documents(all)) // a client that is gone
		return nil, nil
	case len(all) == 1:
		all[0].File = ""
		return all[0], nil
	}
	return map[string]any{"placements": all}, nil
}

// manifests spreads the models and writes a manifest for each. Several are named
// after their files.
func manifests(w workload, all []placed) error {
	var rankings []*placement.Ranking
	for _, p := range all {
		rankings = append(rankings, p.Ranking)
	}
	if err := placement.SpreadModels(rankings); err != nil {
		return err
	}
	used := map[string]bool{}
	for i := range all {
		own := w
		if len(all) > 1 {
			own = w.rename(all[i].File, used)
		}
		text, err := manifest(own, all[i].Ranking)
		if err != nil {
			return err
		}
		all[i].Manifest = string(text)
	}
	return nil
}

var notLabel = regexp.MustCompile(`[^a-z0-9]+`)

// rename returns a workload with a name after a file's, one that is not used yet.
func (w workload) rename(file string, used map[string]bool) workload {
	base := notLabel.ReplaceAllString(strings.ToLower(strings.TrimSuffix(filepath.Base(file), ".onnx")), "-")
	base = strings.Trim(base[:min(len(base), 50)], "-")
	if base == "" {
		base = "model"
	}
	name := base
	for i := 2; used[name]; i++ {
		name = fmt.Sprintf("%s-%d", base, i)
	}
	used[name] = true
	if w.image == w.name+":latest" {
		w.image = name + ":latest"
	}
	w.name = name
	return w
}

// documents returns the manifests as one YAML stream.
func documents(all []placed) []byte {
	var b bytes.Buffer
	for i, p := range all {
		if i > 0 {
			b.WriteString("---\n")
		}
		b.WriteString(p.Manifest)
	}
	return b.Bytes()
}

// rank reads the models or the counts, then asks for devices.
func (s *Service) rank(w http.ResponseWriter, r *http.Request) ([]placed, error) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "application/json" {
		ranking, err := s.rankCounts(w, r)
		return []placed{{Ranking: ranking}}, err
	}
	u, err := s.upload(w, r)
	if err != nil {
		return nil, err
	}
	defer u.close()
	var all []placed
	for ; err == nil; err = s.next(r.Context(), u) {
		if len(all) == maxPlaced {
			return nil, fmt.Errorf("%w: more than %d models", errTooLarge, maxPlaced)
		}
		p, err := s.place(r, u)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return all, nil
}

// place ranks the devices for one model.
func (s *Service) place(r *http.Request, u *uploaded) (placed, error) {
	c, err := u.analysis.Characteristics()
	if err == nil {
		err = u.analysis.CheckDefined()
	}
	if err != nil {
		return placed{}, err
	}
	bound, err := s.fleet(r.Context())
	if err != nil {
		return placed{}, err
	}
	ranking, err := s.correct(bound.fleet.Rank(u.analysis))
	if err != nil {
		return placed{}, err
	}
	p := placed{File: u.name, Ranking: ranking, Characteristics: &counted{c, onnx.WarningTexts(c.Warnings)}}
	if r.URL.Query().Get("layers") == "true" {
		if p.Layers, _, err = bound.fleet.Layers(u.analysis, ranking.Candidates[0].Node); err != nil {
			return placed{}, err
		}
	}
	return p, nil
}

func (s *Service) rankCounts(w http.ResponseWriter, r *http.Request) (*placement.Ranking, error) {
	b := buffers.Get().(*buffer)
	defer buffers.Put(b)
	request, err := s.profilingRequest(w, r, b)
	if err != nil {
		return nil, err
	}
	bound, err := s.fleet(r.Context())
	if err != nil {
		return nil, err
	}
	return s.correct(bound.fleet.Profile(request.Counts))
}

package profiler

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/foretime/foretime/shared/regression/tree"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Returned by trained models.
var (
	// ErrModel is returned for a model file that cannot be used.
	ErrModel = errors.New("unusable model")
	// ErrNoInterval warns that a model of XGBoost does not contain its error.
	ErrNoInterval = errors.New("no interval: the file of XGBoost does not contain its error")
	// ErrNegative is returned for a predicted time that is not above 0.
	ErrNegative = errors.New("the model predicts an impossible time")
	// ErrValidation is returned for a validation that does not exist.
	ErrValidation = errors.New("unknown validation")
)

// schema is the version of the model file. Its trees are XGBoost's JSON.
const schema = 4

// Training describes the data that a model was trained on.
type Training struct {
	Rows       int      `json:"rows"`
	Models     int      `json:"models"`
	Families   int      `json:"families"`
	Devices    int      `json:"devices"`
	Validation string   `json:"validation"`
	MAPE       *float64 `json:"mape"` // of that validation
}

// Model predicts a whole model from counts: boosted trees on the logarithm of its
// time. It serves where the model itself is not at hand, as in files of the original
// collector.
type Model struct {
	Facts Training
	// Hash is the SHA-256 of the rest of the file, in hexadecimal.
	Hash string

	settings []string
	ensemble *tree.Ensemble
	band     uncertainty.Band // about a predicted time
	// original are the names of the features of a model that XGBoost wrote, whose error is
	// unknown; nil for one of ours.
	original []string
}

// file is a model as JSON.
type file struct {
	Kind   string `json:"kind"`
	Schema int    `json:"schema"`
	Hash   string `json:"sha256"` // of the content, byte by byte
	// Content is a [content].
	Content json.RawMessage `json:"content"`
}

type content struct {
	Trained  Training        `json:"trained"`
	Settings []string        `json:"settings"`
	Low      float64         `json:"low"`
	High     float64         `json:"high"`
	Trees    json.RawMessage `json:"trees"`
}

const kind = "foretime edgeprof model"

// Write writes the model as JSON.
func (m *Model) Write(w io.Writer) error {
	var trees bytes.Buffer
	if err := m.ensemble.WriteCompact(&trees); err != nil {
		return err
	}
	body, err := json.Marshal(content{m.Facts, m.settings, m.band.Low, m.band.High, bytes.TrimSuffix(trees.Bytes(), []byte{'\n'})})
	if err != nil {
		return err
	}
	m.Hash = hash(body)
	return json.NewEncoder(w).Encode(file{kind, schema, m.Hash, body})
}

func hash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// ReadModel reads what [Model.Write] or XGBoost wrote. The error matches [ErrModel].
func ReadModel(r io.Reader) (*Model, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if IsXGBoost(data) {
		return ReadXGBoost(data)
	}
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	if f.Kind != kind || f.Schema != schema {
		return nil, fmt.Errorf("%w: kind %q, schema %d; want %q, schema %d", ErrModel, f.Kind, f.Schema, kind, schema)
	}
	if sum := hash(f.Content); sum != f.Hash {
		return nil, fmt.Errorf("%w: its SHA-256 is %s, but the file says %s", ErrModel, sum, f.Hash)
	}
	var c content
	if err := json.Unmarshal(f.Content, &c); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	m := &Model{Facts: c.Trained, Hash: f.Hash, settings: c.Settings, band: bandBetween(c.Low, c.High)}
	if m.ensemble, err = tree.DecodeModel(c.Trees); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	if n := m.ensemble.Features(); n != len(rowColumns) {
		return nil, fmt.Errorf("%w: its trees use %d features, want %d", ErrModel, n, len(rowColumns))
	}
	return m, nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

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
)

// Returned by trained models.
var (
	// ErrModel is returned for a model file that cannot be used.
	ErrModel = errors.New("unusable model")
	// ErrValidation is returned for a validation that does not exist.
	ErrValidation = errors.New("unknown validation")
)

// schema is the version of the model file. Its trees are XGBoost's UBJSON in base
// 64, which is read in a fifth of the time that its JSON takes.
const schema = 2

// Training says what a model was learnt from.
type Training struct {
	Rows       int      `json:"rows"`
	Models     int      `json:"models"`
	Families   int      `json:"families"`
	Devices    int      `json:"devices"`
	Kernels    int      `json:"kernels"`
	Validation string   `json:"validation"`
	MAPE       *float64 `json:"mape"` // of that validation
}

// Model is a trained predictor.
type Model struct {
	Facts Training
	// Kernels refine the rates of a setting, by its run time; nil without
	// measured kernels.
	Kernels map[string]*KernelTrees
	// Whole predicts from counts; nil in a model that was never trained.
	Whole *ModelTrees
	// Settings are the devices that it was trained on, in order of their names.
	Settings []*Calibration
	// Hash is the SHA-256 of what the file holds beside it, in hexadecimal.
	Hash string
}

// setting is the calibration of a setting by its name, or nil.
func (m *Model) setting(name string) *Calibration {
	for _, c := range m.Settings {
		if c.Facts.Setting == name {
			return c
		}
	}
	return nil
}

// Use has a calibration of a device refined by the model's trees.
func (m *Model) Use(c *Calibration) {
	c.trees = m.Kernels[c.Facts.Runtime]
	c.index()
}

// file is a model as JSON.
type file struct {
	Kind   string `json:"kind"`
	Schema int    `json:"schema"`
	Hash   string `json:"sha256,omitempty"`
	content
}

type content struct {
	Trained  Training        `json:"trained"`
	Settings []*Calibration  `json:"settings"`
	Names    []string        `json:"whole_settings"`
	Low      float64         `json:"whole_low"`
	High     float64         `json:"whole_high"`
	Kernels  []kernelFile    `json:"kernel_trees"`
	Whole    json.RawMessage `json:"whole_trees"`
}

type kernelFile struct {
	Runtime string          `json:"runtime"`
	Ops     []string        `json:"operators"`
	Trees   json.RawMessage `json:"trees"`
}

const kind = "foretime edgeprof model"

// Write writes the model as JSON.
func (m *Model) Write(w io.Writer) error {
	c := content{Trained: m.Facts, Settings: m.Settings}
	for _, runtime := range sortedKeys(m.Kernels) {
		t := m.Kernels[runtime]
		trees, err := encoded(t.ensemble)
		if err != nil {
			return err
		}
		c.Kernels = append(c.Kernels, kernelFile{runtime, t.ops, trees})
	}
	var err error
	if m.Whole == nil {
		return fmt.Errorf("%w: it was never trained", ErrModel)
	}
	c.Names, c.Low, c.High = m.Whole.settings, m.Whole.band.Low, m.Whole.band.High
	if c.Whole, err = encoded(m.Whole.ensemble); err != nil {
		return err
	}
	if m.Hash, err = c.hash(); err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(file{kind, schema, m.Hash, c})
}

func encoded(e *tree.Ensemble) (json.RawMessage, error) {
	var b bytes.Buffer
	if err := e.WriteUBJSON(&b); err != nil {
		return nil, err
	}
	return json.Marshal(b.Bytes())
}

// hash is of the content as it is written.
func (c content) hash() (string, error) {
	sum := sha256.New()
	if err := json.NewEncoder(withoutNewline{sum}).Encode(c); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// withoutNewline drops the line end that a JSON encoder adds to its one write.
type withoutNewline struct{ w io.Writer }

func (n withoutNewline) Write(p []byte) (int, error) {
	if _, err := n.w.Write(bytes.TrimSuffix(p, []byte{'\n'})); err != nil {
		return 0, err
	}
	return len(p), nil
}

// ReadModel reads what [Model.Write] wrote. The error matches [ErrModel].
func ReadModel(r io.Reader) (*Model, error) {
	var f file
	if err := json.NewDecoder(r).Decode(&f); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	if f.Kind != kind || f.Schema != schema {
		return nil, fmt.Errorf("%w: kind %q, schema %d; want %q, schema %d", ErrModel, f.Kind, f.Schema, kind, schema)
	}
	hash, err := f.hash()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	if hash != f.Hash {
		return nil, fmt.Errorf("%w: its SHA-256 is %s, it says %s", ErrModel, hash, f.Hash)
	}
	m := &Model{Facts: f.Trained, Settings: f.Settings, Hash: hash, Whole: &ModelTrees{settings: f.Names, band: bandBetween(f.Low, f.High)}}
	if m.Whole.ensemble, err = decoded(f.content.Whole, len(rowColumns)); err != nil {
		return nil, err
	}
	for _, k := range f.content.Kernels {
		if m.Kernels == nil {
			m.Kernels = map[string]*KernelTrees{}
		}
		t := &KernelTrees{ops: k.Ops}
		if t.ensemble, err = decoded(k.Trees, len(kernelColumns)); err != nil {
			return nil, err
		}
		m.Kernels[k.Runtime] = t
	}
	for _, c := range m.Settings {
		if c == nil {
			return nil, fmt.Errorf("%w: an empty setting", ErrModel)
		}
		if err := c.Check(); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrModel, c.Facts.Setting, err)
		}
		m.Use(c)
	}
	return m, nil
}

func decoded(data json.RawMessage, features int) (*tree.Ensemble, error) {
	var binary []byte
	if err := json.Unmarshal(data, &binary); err != nil {
		return nil, fmt.Errorf("%w: trees: %w", ErrModel, err)
	}
	e, err := tree.DecodeModel(binary)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	if e.Features() != features {
		return nil, fmt.Errorf("%w: trees on %d features, want %d", ErrModel, e.Features(), features)
	}
	return e, nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

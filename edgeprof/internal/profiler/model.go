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
	// ErrNoInterval warns that a model of XGBoost does not contain its error.
	ErrNoInterval = errors.New("no interval: the file of XGBoost does not contain its error")
	// ErrNegative is returned for a predicted time that is not above 0.
	ErrNegative = errors.New("the model predicts an impossible time")
	// ErrValidation is returned for a validation that does not exist.
	ErrValidation = errors.New("unknown validation")
)

// schema is the version of the model file. Its trees are XGBoost's JSON.
const schema = 3

// Training describes the data that a model was trained on.
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
	// Kernels refine the rates of a setting, by its runtime; nil without
	// measured kernels.
	Kernels map[string]*KernelTrees
	// Whole predicts from counts; nil in a model that was never trained.
	Whole *ModelTrees
	// Settings are the devices that it was trained on, in order of their names.
	Settings []*Calibration
	// Hash is the SHA-256 of the rest of the file, in hexadecimal.
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
	Hash   string `json:"sha256"` // of the content, byte by byte
	// Content is a [content].
	Content json.RawMessage `json:"content"`
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
		return fmt.Errorf("%w: it is not trained", ErrModel)
	}
	c.Names, c.Low, c.High = m.Whole.settings, m.Whole.band.Low, m.Whole.band.High
	if c.Whole, err = encoded(m.Whole.ensemble); err != nil {
		return err
	}
	body, err := json.Marshal(c)
	if err != nil {
		return err
	}
	m.Hash = hash(body)
	return json.NewEncoder(w).Encode(file{kind, schema, m.Hash, body})
}

func encoded(e *tree.Ensemble) (json.RawMessage, error) {
	var b bytes.Buffer
	err := e.WriteCompact(&b)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), err
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
	m := &Model{Facts: c.Trained, Settings: c.Settings, Hash: f.Hash, Whole: &ModelTrees{settings: c.Names, band: bandBetween(c.Low, c.High)}}
	if m.Whole.ensemble, err = decoded(c.Whole, len(rowColumns)); err != nil {
		return nil, err
	}
	for _, k := range c.Kernels {
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
			return nil, fmt.Errorf("%w: a setting is empty", ErrModel)
		}
		c.Complete()
		if err := c.Check(); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrModel, c.Facts.Setting, err)
		}
		m.Use(c)
	}
	return m, nil
}

func decoded(data json.RawMessage, features int) (*tree.Ensemble, error) {
	e, err := tree.DecodeModel(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	if e.Features() != features {
		return nil, fmt.Errorf("%w: its trees use %d features, want %d", ErrModel, e.Features(), features)
	}
	return e, nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

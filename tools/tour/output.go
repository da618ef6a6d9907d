package tour

import (
	_ "embed" // the page
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/foretime/foretime/shared/file"
)

// Number returns three significant digits, and all digits of a whole number.
func Number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	digits := 3
	if a := math.Abs(v); a >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	} else if a >= 0.001 {
		digits = max(0, 2-int(math.Floor(math.Log10(a))))
		return strconv.FormatFloat(v, 'f', digits, 64)
	}
	return strconv.FormatFloat(v, 'e', digits-1, 64)
}

// Save writes results.json and index.html into dir.
func (r *Results) Save(dir string) error {
	err := file.WriteJSON(filepath.Join(dir, "results.json"), r)
	if err != nil {
		return err
	}
	return file.Write(filepath.Join(dir, "index.html"), func(w io.Writer) error {
		return page.Execute(w, r)
	})
}

// Load reads a results.json.
func Load(path string) (*Results, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &Results{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

//go:embed page.html
var pageText string

var page = template.Must(template.New("tour").Parse(pageText))

package tour

import (
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
)

// WriteTable prints the measures of all chapters as one table.
func (r *Results) WriteTable(w io.Writer) error {
	table := cli.Table{Header: []string{"tool", "measured", "value", "unit", "note"}}
	for _, c := range r.Chapters {
		name := c.Module
		for _, m := range c.Measures {
			table.Add(name, m.Name, number(m.Value), m.Unit, m.Note)
			name = ""
		}
	}
	if _, err := table.WriteTo(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%.0f s on %d x %s, %s, commit %s, load %.1f\n",
		r.Seconds, r.Machine.Cores, r.Machine.CPU, r.Machine.Go, r.Commit, r.Machine.Load1)
	return err
}

// number prints three significant digits, and all of a whole number.
func number(v float64) string {
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

var page = template.Must(template.New("tour").Funcs(template.FuncMap{"number": number}).Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Foretime: the tour</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1, h2 { line-height: 1.2; }
table { border-collapse: collapse; }
th, td { padding: .25rem .75rem .25rem 0; text-align: left; border-bottom: 1px solid #ddd; vertical-align: top; }
td.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
pre { background: #f5f5f5; padding: .75rem; overflow-x: auto; }
img { max-width: 100%; height: auto; }
footer { color: #666; margin-top: 3rem; }
</style>
<h1>Foretime: the tour</h1>
{{range .Chapters}}
<h2>{{.Module}}</h2>
<p>{{.Title}} ({{printf "%.0f" .Seconds}} s)</p>
<pre>{{range .Commands}}$ {{.}}
{{end}}</pre>
<table>
{{range .Measures}}<tr><td>{{.Name}}</td><td class="n">{{number .Value}}</td><td>{{.Unit}}</td><td>{{.Note}}</td></tr>
{{end}}</table>
{{range .Plots}}<p><img src="{{.}}" alt="{{.}}"></p>
{{end}}{{end}}
<footer>{{.Machine.Cores}} x {{.Machine.CPU}}, {{.Machine.MemoryGiB}} GiB, {{.Machine.OS}}, {{.Machine.Go}}, commit {{.Commit}}, load at start {{.Machine.Load1}}</footer>
</html>
`))

package release

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/tools/workspace"
)

// TestWheel checks the place of each file, that programs are
// executable, and that its hash is in the record; TestRehearsal installs wheels
// with pip.
func TestWheel(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"hello/README.md":                            "# hello\n\n**How are you?** Well.\n",
		"hello/python/a_hello.py":                    "import a_hello\n",
		"hello/python/other.py":                      "",
		"built/amd64":                                "#!/bin/sh\necho []\n",
		"into/amd64/bin/helper":                      "#!/bin/sh\n",
		"into/amd64/lib/f/x.so":                      "no library",
		"into/amd64/share/man/a.1":                   ".TH A",
		"into/amd64/share/doc/a-hello/copyright":     "take it",
		"into/amd64/share/doc/a-hello/licences.txt":  "of others",
		"into/amd64/share/doc/a-hello/sbom.cdx.json": "{}",
	} {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	made := tool{Module: workspace.Module{Name: "a-hello", Dir: filepath.Join(dir, "hello")}, version: "v0.2.0-rc1", into: filepath.Join(dir, "into")}
	program := filepath.Join(dir, "built", "amd64")
	modules, err := pythonModules(t.Context(), made.Dir, made.Name, program)
	if err != nil {
		t.Fatal(err)
	}
	if err := made.wheels(program, "amd64", modules); err != nil {
		t.Fatal(err)
	}
	const base = "foretime_a_hello-0.2.0rc1"
	r, err := zip.OpenReader(filepath.Join(made.into, base+"-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64.whl"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var names, programs, record []string
	var recorded [][]string
	for _, f := range r.File {
		names = append(names, f.Name)
		if f.Mode()&0o111 != 0 {
			programs = append(programs, f.Name)
		}
		body, err := fs.ReadFile(r, f.Name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(f.Name, "RECORD") {
			if recorded, err = csv.NewReader(strings.NewReader(string(body))).ReadAll(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		sum := sha256.Sum256(body)
		record = append(record, fmt.Sprint(f.Name, " sha256=", base64.RawURLEncoding.EncodeToString(sum[:]), " ", len(body)))
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{
		"a_hello/__init__.py", "a_hello/__main__.py", "a_hello/_commands.py", "a_hello/_program.py", "a_hello/py.typed",
		base + ".data/data/libexec/f/x.so", base + ".data/data/share/man/a.1",
		base + ".data/scripts/a-hello", base + ".data/scripts/helper",
		base + ".dist-info/METADATA", base + ".dist-info/RECORD", base + ".dist-info/WHEEL",
		base + ".dist-info/licenses/copyright", base + ".dist-info/licenses/licences.txt", base + ".dist-info/sboms/sbom.cdx.json",
		"other.py",
	}, names); diff != "" {
		t.Errorf("files (- want):\n%s", diff)
	}
	if want := []string{base + ".data/scripts/a-hello", base + ".data/scripts/helper"}; !slices.Equal(programs, want) {
		t.Errorf("programs %q, want %q", programs, want)
	}
	var rows []string
	for _, row := range recorded[:len(recorded)-1] {
		rows = append(rows, strings.Join(row, " "))
	}
	if diff := cmp.Diff(record, rows); diff != "" {
		t.Errorf("record (- want):\n%s", diff)
	}
	meta, err := r.Open(base + ".dist-info/METADATA")
	if err != nil {
		t.Fatal(err)
	}
	defer meta.Close()
	text, err := io.ReadAll(meta)
	if err != nil || !strings.Contains(string(text), "\nName: foretime-a-hello\nVersion: 0.2.0rc1\nSummary: How are you?\n") {
		t.Errorf("metadata %s (%v)", text, err)
	}
}

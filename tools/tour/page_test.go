package tour

import (
	"bytes"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestRealPage shows the page in Chromium on a desktop, on a phone and in dark
// mode; -artifacts keeps the pictures. None is wider than its window.
func TestRealPage(t *testing.T) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("needs Chromium: install with apt-get install chromium")
	}
	r, err := Load(filepath.Join("testdata", "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := r.Save(dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	measured := filepath.Join(dir, "measured.html") // its title is the width
	if err := os.WriteFile(measured, append(text, "<script>document.title = 'width ' + document.documentElement.scrollWidth</script>"...), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name          string
		width, height int
		flags         []string
		dark          bool
	}{
		{"desk", 1200, 900, nil, false},
		{"phone", 500, 900, nil, false}, // the smallest window of Chromium
		{"dark", 1200, 900, []string{"--force-dark-mode"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			browse := func(args ...string) []byte {
				args = append([]string{"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--user-data-dir=" + t.TempDir(),
					"--window-size=" + strconv.Itoa(c.width) + "," + strconv.Itoa(c.height)}, args...)
				cmd := exec.Command(chromium, append(args, c.flags...)...)
				cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
				out, err := cmd.Output()
				if err != nil {
					t.Fatalf("chromium: %v", err)
				}
				return out
			}
			shot := filepath.Join(t.ArtifactDir(), c.name+".png")
			browse("--screenshot="+shot, "file://"+filepath.Join(dir, "index.html"))
			if got := dark(t, shot); got != c.dark {
				t.Errorf("the ground is dark: %v, want %v", got, c.dark)
			}
			_, title, _ := bytes.Cut(browse("--dump-dom", "file://"+measured), []byte("<title>width "))
			width, _, _ := strings.Cut(string(title), "<")
			if w, err := strconv.Atoi(width); err != nil || w > c.width {
				t.Errorf("%q wide in a window of %d", width, c.width)
			}
		})
	}
}

// dark reports whether a picture's first pixel is dark.
func dark(t *testing.T, path string) bool {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	picture, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return color.GrayModel.Convert(picture.At(0, 0)).(color.Gray).Y < 128
}

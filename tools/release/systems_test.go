package release

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// downloads checks that pip finds wheels of all tools for the systems in use.
func (r *rehearsal) downloads(ctx context.Context) error {
	for _, platform := range []string{
		"manylinux2014_x86_64", "manylinux_2_17_x86_64", "musllinux_1_1_x86_64",
		"manylinux2014_aarch64", "manylinux_2_17_aarch64", "musllinux_1_1_aarch64",
	} {
		into := filepath.Join(r.out, "downloads", platform)
		err := run(ctx, "", nil, "python3", append([]string{"-m", "pip", "download", "--quiet", "--no-index",
			"--only-binary=:all:", "--platform", platform, "--dest", into, "foretime"}, r.links()...)...)
		if err != nil {
			return err
		}
		if found, _ := filepath.Glob(filepath.Join(into, "*.whl")); len(found) != len(prepared)+1 {
			return fmt.Errorf("%s: %d wheels of %d", platform, len(found), len(prepared)+1)
		}
	}
	return nil
}

// links returns the options of pip that name the directories of the wheels.
func (r *rehearsal) links() (options []string) {
	parts := filepath.Join(r.clone.Root, "out", "parts")
	for _, folder := range []string{"allox-est", "chamtool", "deft", "edgeprof", "foretime", "mirage"} {
		options = append(options, "--find-links", filepath.Join(parts, folder))
	}
	return options
}

// firstAnswers installs all tools and gets an answer of each, as a new user of a bare
// system does; then it installs them into a directory, and asks two from Python.
const firstAnswers = `set -eu
mount -t proc proc /proc
cd "$(mktemp -d)"
python3 -m venv v
v/bin/pip install --quiet --no-index --no-compile --find-links /wheels foretime
export PATH=$PWD/v/bin:$PATH HOME=$PWD
allox-est run --epochs 40 -- sh -c 'for i in $(seq {epochs}); do echo epoch $i; sleep 0.05; done'
chamtool doctor
deft build-hook --out-dir hook
edgeprof synth resnet --width 0.25 --resolution 64 --out r.onnx
edgeprof rank r.onnx
edgeprof-ort --version
mirage log synth --days 10 --seed 1 --out m.log
mirage when m.log
pip3 install --quiet --no-index --find-links /wheels --target t foretime
PYTHONPATH=$PWD/t python3 -c "
import chamtool, edgeprof, mirage
print(mirage.when('m.log').start, edgeprof.rank('r.onnx')[0].node, chamtool.tool_path())"
`

// systems installs the wheels in roots of old Debians without network, and prints how
// long each took from nothing to the first answers. The oldest has glibc 2.31.
func (r *rehearsal) systems(ctx context.Context) error {
	if _, err := exec.LookPath("mmdebstrap"); err != nil || os.Getuid() != 0 {
		fmt.Println("skipped: it needs mmdebstrap and root")
		return nil
	}
	for _, suite := range []string{"bullseye", "bookworm"} {
		root := filepath.Join(r.root, "out", "roots", suite) // kept: it takes a minute
		if _, err := os.Stat(root); err != nil {
			if err := os.MkdirAll(filepath.Dir(root), 0o755); err != nil {
				return err
			}
			made := root + ".new"
			if err := os.RemoveAll(made); err != nil {
				return err
			}
			if err := run(ctx, "", nil, "mmdebstrap", "--variant=minbase", "--include=python3-pip,python3-venv", suite, made); err != nil {
				return err
			}
			if err := os.Rename(made, root); err != nil {
				return err
			}
		}
		if err := r.answers(ctx, root); err != nil {
			return fmt.Errorf("%s: %w", suite, err)
		}
	}
	return nil
}

// answers runs firstAnswers in a root, in its own processes, mounts and network.
func (r *rehearsal) answers(ctx context.Context, root string) error {
	wheels := filepath.Join(root, "wheels")
	if err := errors.Join(os.RemoveAll(wheels), os.Mkdir(wheels, 0o755)); err != nil {
		return err
	}
	parts := filepath.Join(r.clone.Root, "out", "parts")
	all, _ := filepath.Glob(filepath.Join(parts, "*", "*-none-any.whl")) // the patterns are well formed
	own, _ := filepath.Glob(filepath.Join(parts, "*", "*"+machines[runtime.GOARCH]+".whl"))
	for _, from := range append(all, own...) {
		body, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(wheels, filepath.Base(from)), body, 0o644)
		}
		if err != nil {
			return err
		}
	}
	start := time.Now()
	err := run(ctx, "", []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}, "unshare", "--net", "--pid", "--mount", "--fork",
		"chroot", root, "sh", "-c", firstAnswers)
	fmt.Printf("%s: from nothing to the first answers in %.1f s\n", filepath.Base(root), time.Since(start).Seconds())
	return err
}

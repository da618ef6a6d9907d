package sampling

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/allox-est/internal/launch"
)

// keyEnv are variables that change how long nearly any job takes.
var keyEnv = []string{"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "CUDA_VISIBLE_DEVICES"}

// variable is a shell's, in a word of a command.
var variable = regexp.MustCompile(`\$\{?([A-Za-z_][A-Za-z0-9_]*)`)

// Identify says where and with what runs of a job would now be made: the host
// and its processor, and a digest of the variables that matter (keyEnv, and those that the
// command's words mention) and of the files that the command names. Env is the environment, NAME=VALUE.
func Identify(spec *jobspec.Spec, m Machine, env []string) (journal.Identity, error) {
	id := journal.Identity{Processor: m.processor()}
	host, err := os.Hostname()
	if err != nil {
		return id, err
	}
	id.Host = host
	sum := sha256.New()
	names := slices.Clone(keyEnv)
	for _, word := range spec.Command {
		for _, found := range variable.FindAllStringSubmatch(word, -1) {
			names = append(names, found[1])
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		for _, e := range env {
			if strings.HasPrefix(e, name+"=") {
				fmt.Fprintf(sum, "%s\x00", e)
			}
		}
	}
	for _, device := range []string{jobspec.CPU, jobspec.GPU} {
		args, err := spec.Args(device, 1, jobspec.Own{Scratch: launch.ScratchWord})
		if err != nil {
			continue // the job does not run there
		}
		for _, word := range args {
			if err := digest(sum, spec.WorkDir(), word); err != nil {
				return id, err
			}
		}
	}
	id.Inputs = hex.EncodeToString(sum.Sum(nil)[:8])
	return id, nil
}

// largeFile is from where a file counts by its size and date: it is data.
const largeFile = 1 << 20

// digest adds the file that a word of a command names, where it names one.
func digest(sum io.Writer, dir, word string) error {
	path := word
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, word)
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	fmt.Fprintf(sum, "%s\x00%d\x00", word, info.Size())
	if info.Size() > largeFile {
		fmt.Fprintf(sum, "%d\x00", info.ModTime().UnixNano())
		return nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrPermission) {
		return nil // executable, and no more
	}
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(sum, f)
	return err
}

// processor returns the model of the machine's processors; empty where the kernel does not say.
func (m Machine) processor() string {
	f, err := os.Open(filepath.Join(m.Proc, "cpuinfo"))
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

package tour

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/foretime/foretime/shared/crash"
)

// build is a package that a chapter needs in the stage's bin directory.
type build struct {
	pkg          string
	sharedObject string // file name of a C library; a command if empty
	optional     bool   // the chapter can run without it
}

// build builds all packages at once: the commands in one call of go build, which
// compiles shared packages once and links during compilation, and the C libraries,
// which share no object code, in parallel.
func (s *Stage) build(ctx context.Context, builds []build) error {
	var needed, optional []string
	libraries := make(chan error, len(builds))
	waiting := 0
	defer s.step(fmt.Sprintf("go build, %d packages", len(builds)))()
	for _, b := range builds {
		switch {
		case b.sharedObject != "":
			waiting++
			crash.Go(func() {
				// Parquet is half of what the library would compile, as
				// position-independent code that no command shares; the tour reads
				// CSV.
				libraries <- goBuild(ctx, s.Root, "-buildmode=c-shared", "-trimpath", "-tags=noparquet", "-o", filepath.Join(s.Bin, b.sharedObject), b.pkg)
			})
		case b.optional:
			optional = append(optional, b.pkg)
		default:
			needed = append(needed, b.pkg)
		}
	}
	err := s.buildCommands(ctx, needed, optional)
	for range waiting {
		err = errors.Join(err, <-libraries)
	}
	return err
}

// buildCommands builds commands. If an optional one fails, such as for lack of a C
// compiler, the others are still built.
func (s *Stage) buildCommands(ctx context.Context, needed, optional []string) error {
	all := append(append([]string{"-o", s.Bin + string(filepath.Separator)}, needed...), optional...)
	err := goBuild(ctx, s.Root, all...)
	if err == nil || len(optional) == 0 || ctx.Err() != nil {
		return err
	}
	for _, pkg := range optional { // an old binary is not of this checkout
		_ = os.Remove(filepath.Join(s.Bin, filepath.Base(pkg)))
	}
	fmt.Fprintf(s.Log, "without %s: %v\n", strings.Join(optional, ", "), err)
	return goBuild(ctx, s.Root, all[:len(all)-len(optional)]...)
}

func goBuild(ctx context.Context, root string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"build"}, args...)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

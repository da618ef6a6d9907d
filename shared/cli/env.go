package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"github.com/sirupsen/logrus"
	"golang.org/x/sys/unix"

	"github.com/foretime/foretime/shared/file"
)

// Env is the part of the outside world that a command may use. A test passes its
// own Env and runs the command in the test's process.
type Env struct {
	Stdin  io.Reader
	Stdout io.Writer // results, and nothing else
	Stderr io.Writer // log lines, progress, errors
	// Log writes to Stderr. Domain packages never see it.
	Log *logrus.Logger
	// Terminal reports whether Stderr is a terminal, or passes on to one: then there are
	// progress bars.
	Terminal bool
	// Root is the machine's root file system; its /proc, /sys and /etc describe the
	// machine.
	Root fs.FS
	// State is the directory for what programs keep for their user. If it is "",
	// there is none and Stateless gives the reason; both are "" if none is wanted.
	State, Stateless string
	// Cache is the directory for what programs can compute again; "" for none.
	Cache string

	// Companions returns the files that a command reads because its command line
	// names path: those of a directory, or those that a file refers to. For "" it
	// returns the files that are read by default. No output may be one of them. Nil
	// for none.
	Companions func(path string) []string

	taken   atomic.Uint64 // bits of the signals that the command handles itself
	doubt   string        // about the input
	inputs  []named       // inputs, which no output may be
	outputs []named       // outputs on the command line
}

// Doubt sets a doubt about the input as a whole ("" for none). The answers that
// follow begin with it: as the first line of a page, or as the field doubt of a
// JSON object.
func (e *Env) Doubt(text string) { e.doubt = text }

// NewEnv returns an Env over the given streams with its logger set up: warnings and
// above, with colour and time only on a terminal.
func NewEnv(stdin io.Reader, stdout, stderr io.Writer) *Env {
	env := &Env{Stdin: stdin, Stdout: stdout, Stderr: stderr, Terminal: IsTerminal(stderr), Root: os.DirFS("/")}
	env.Log = &logrus.Logger{
		Out:       stderr,
		Hooks:     make(logrus.LevelHooks),
		Level:     logrus.InfoLevel,
		Formatter: &plainLog{logrus.TextFormatter{DisableColors: !env.Terminal, DisableTimestamp: !env.Terminal}},
		ExitFunc:  os.Exit,
	}
	return env
}

// Verbose reports whether --verbose was given.
func (e *Env) Verbose() bool { return e.Log.IsLevelEnabled(logrus.DebugLevel) }

// OSEnv returns the Env of the running process. Its State follows the XDG Base
// Directory Specification.
func OSEnv() *Env {
	endWithParent(os.Getenv("FORETIME_PARENT"))
	env := NewEnv(os.Stdin, os.Stdout, os.Stderr)
	if os.Getenv("FORETIME_PROGRESS") == "1" { // set by the Python packages
		env.Terminal = true
	}
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" { // https://no-color.org
		env.Log.Formatter.(*plainLog).DisableColors = true
	}
	env.State, env.Stateless = stateDirectory(os.Getenv("XDG_STATE_HOME"), os.Getenv("HOME"))
	if dir, err := os.UserCacheDir(); err == nil && (env.Stateless == "" || os.Getenv("XDG_CACHE_HOME") != "") {
		env.Cache = dir
	}
	return env
}

// endWithParent arranges that this process gets SIGTERM when its parent ends, if it is the
// child of the process that it is given; the Python packages ask for that. Its own children
// do not inherit the request.
func endWithParent(parent string) {
	if parent == "" {
		return
	}
	_ = os.Unsetenv("FORETIME_PARENT")
	_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGTERM), 0, 0, 0) // without it the process ends by itself
	if parent != strconv.Itoa(os.Getppid()) {                             // which has ended already
		_ = unix.Kill(os.Getpid(), unix.SIGTERM)
	}
}

// IsForeign reports whether a home belongs to the user who started this process by sudo -E. Files
// of root there would be closed to the user.
func IsForeign(home string) bool {
	var s unix.Stat_t
	return unix.Geteuid() == 0 && unix.Stat(home, &s) == nil && s.Uid != 0 && os.Getenv("SUDO_UID") == strconv.Itoa(int(s.Uid))
}

// stateDirectory returns the user's state directory, or the reason that there is
// none. The root directory is not accepted as a home, and a home that does not
// exist is not created.
func stateDirectory(state, home string) (dir, none string) {
	switch info, err := os.Stat(home); {
	case filepath.IsAbs(state):
		return state, ""
	case home == "":
		return "", "HOME and XDG_STATE_HOME are not set"
	case filepath.Clean(home) == "/":
		return "", "HOME is /, which is no user's; XDG_STATE_HOME names another directory"
	case err != nil:
		return "", fmt.Sprintf("HOME: %v", err)
	case IsForeign(home):
		return "", fmt.Sprintf("HOME: %s is another user's", home)
	case !info.IsDir():
		return "", fmt.Sprintf("HOME: %s is not a directory", home)
	}
	return filepath.Join(home, ".local", "state"), ""
}

// WriteJSON prints v to stdout as indented JSON with a final newline. HTML
// characters are not escaped; control characters that a terminal would interpret
// are.
func (e *Env) WriteJSON(v any) error {
	var b bytes.Buffer
	if err := file.EncodeJSON(&b, v); err != nil {
		return err
	}
	_, err := e.Stdout.Write(plainJSON(b.Bytes()))
	return err
}

// WriteJSONLine prints v to stdout as one line of JSON, for a stream of answers.
func (e *Env) WriteJSONLine(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = e.Stdout.Write(append(plainJSON(b), '\n'))
	return err
}

// Write writes a result to the file at path, or to stdout if path is "-". A failure
// leaves the file as it was, see file.Write.
func (e *Env) Write(path string, write func(io.Writer) error) error {
	if path == "-" {
		return write(e.Stdout)
	}
	return file.Write(path, write)
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

package launch

import (
	"bufio"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/foretime/foretime/shared/crash"
)

// smi holds the output of nvidia-smi on the machine's GPUs, from before a run begins to its
// end. Its zero value has none.
type smi struct {
	cmd   *exec.Cmd     // nil if there is no nvidia-smi
	ready chan struct{} // closed at the first reading

	mu      sync.Mutex
	running bool
	gpus    map[string]*gpuSeen
}

// gpuSeen is one GPU over a run.
type gpuSeen struct {
	base int64 // bytes in use before the run
	idle bool  // at 0 % before it
	used bool  // more of either in it
	peak int64 // most bytes in use in it, above base
}

const (
	smiEvery = "500" // ms between two readings
	smiWait  = 5 * time.Second
	// grownBytes is the growth of a GPU's memory by the smallest context of a process.
	grownBytes = 16 << 20
)

// startSMI starts the program, if there is one, and waits so long for its first reading.
func startSMI(program string, wait time.Duration) *smi {
	s := &smi{ready: make(chan struct{}), gpus: map[string]*gpuSeen{}}
	cmd := exec.Command(program, "--query-gpu=index,utilization.gpu,memory.used", "--format=csv,noheader,nounits", "-lms", smiEvery)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		return s
	}
	s.cmd = cmd
	crash.Go(func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			s.add(strings.Split(lines.Text(), ", "))
		}
		_, _ = io.Copy(io.Discard, out)
	})
	patience := time.NewTimer(wait)
	defer patience.Stop()
	select {
	case <-s.ready:
	case <-patience.C:
	}
	return s
}

// add takes in a reading of one GPU.
func (s *smi) add(fields []string) {
	if len(fields) != 3 {
		return
	}
	busy, err1 := strconv.ParseFloat(fields[1], 64)
	mib, err2 := strconv.ParseInt(fields[2], 10, 64)
	if err1 != nil || err2 != nil {
		return // "[N/A]"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.gpus[fields[0]]
	if g == nil || !s.running {
		s.gpus[fields[0]] = &gpuSeen{base: mib << 20, idle: busy == 0}
		if g == nil && len(s.gpus) == 1 {
			close(s.ready)
		}
		return
	}
	g.peak = max(g.peak, mib<<20-g.base)
	g.used = g.used || mib<<20 >= g.base+grownBytes || g.idle && busy > 0
}

// begin says that the run begins now.
func (s *smi) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = true
}

// shows reports whether a GPU came into use since the run began: from inside a container the
// process that uses it is unknown.
func (s *smi) shows() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(slices.Collect(maps.Values(s.gpus)), func(g *gpuSeen) bool { return g.used })
}

// peak returns by how many bytes the memory of the GPUs in use grew at most, for whichever
// program; 0 if that is not known.
func (s *smi) peak() (bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.gpus {
		if g.used {
			bytes += g.peak
		}
	}
	return bytes
}

func (s *smi) stop() {
	if s.cmd != nil {
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
		_ = s.cmd.Wait()
	}
}

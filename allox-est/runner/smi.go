package runner

import (
	"bufio"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/foretime/foretime/shared/crash"
)

// smi is what nvidia-smi tells of the machine's GPUs, from before a run begins
// to its end.
type smi struct {
	cmds  []*exec.Cmd
	ready chan struct{} // closed at the first reading

	mu        sync.Mutex
	start     time.Time
	processes map[int]bool // with memory on a GPU; their numbers may be those of the host
	gpus      map[string]*gpuSeen
}

// gpuSeen is one GPU over a run.
type gpuSeen struct {
	base, most int64 // bytes in use before the run, and at most
	idle       bool  // at 0 % before it
	busy       bool  // above that in it
	points     []GPUPoint
}

// GPUPoint is how busy a GPU was at a time since a run's start, in percent of the
// time before it (nvidia-smi's utilization.gpu).
type GPUPoint struct {
	At          time.Duration
	Utilisation float64
}

const (
	smiEvery = "500" // ms between two readings
	smiWait  = 5 * time.Second
	// grownBytes is by how much a GPU's memory grows with the smallest context of
	// a process.
	grownBytes = 16 << 20
)

// startSMI starts the program; nil where there is none.
func startSMI(program string) *smi {
	path, err := exec.LookPath(program)
	if err != nil {
		return nil
	}
	s := &smi{ready: make(chan struct{}), processes: map[int]bool{}, gpus: map[string]*gpuSeen{}}
	s.follow(path, "--query-compute-apps=pid,used_gpu_memory", s.process)
	if !s.follow(path, "--query-gpu=index,utilization.gpu,memory.used", s.gpu) {
		s.stop()
		return nil
	}
	patience := time.NewTimer(smiWait)
	defer patience.Stop()
	select {
	case <-s.ready:
	case <-patience.C:
	}
	return s
}

// follow hands over each line that a query prints, cut at its commas.
func (s *smi) follow(path, query string, take func([]string)) bool {
	cmd := exec.Command(path, query, "--format=csv,noheader,nounits", "-lms", smiEvery)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		return false
	}
	s.cmds = append(s.cmds, cmd)
	crash.Go(func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			take(strings.Split(lines.Text(), ", "))
		}
		_, _ = io.Copy(io.Discard, out)
	})
	return true
}

func (s *smi) process(fields []string) {
	if pid, err := strconv.Atoi(fields[0]); err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.processes[pid] = true
	}
}

func (s *smi) gpu(fields []string) {
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
	if g == nil {
		g = &gpuSeen{base: mib << 20, idle: busy == 0}
		s.gpus[fields[0]] = g
		if len(s.gpus) == 1 {
			close(s.ready)
		}
	}
	if s.start.IsZero() {
		g.base, g.idle = mib<<20, busy == 0
		return
	}
	g.most, g.busy = max(g.most, mib<<20), g.busy || busy > 0
	g.points = append(g.points, GPUPoint{time.Since(s.start), busy})
}

// begin says that the run begins now.
func (s *smi) begin(start time.Time) {
	if s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.start = start
	}
}

// shows says whether a GPU is in use by one of the processes, or, as their
// numbers may be others outside of a container, since the run began.
func (s *smi) shows(pids []int) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, pid := range pids {
		if s.processes[pid] {
			return true
		}
	}
	for _, g := range s.gpus {
		if g.taken() || g.idle && g.busy {
			return true
		}
	}
	return false
}

func (g *gpuSeen) taken() bool { return g.most >= g.base+grownBytes }

// used returns the most memory that the run was seen to take, and how busy the
// GPUs were on which it did: of several the readings one after the other.
func (s *smi) used() (bytes int64, points []GPUPoint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.gpus {
		if g.taken() {
			bytes += g.most - g.base
			points = append(points, g.points...)
		}
	}
	return bytes, points
}

func (s *smi) stop() {
	if s == nil {
		return
	}
	for _, cmd := range s.cmds {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	}
}

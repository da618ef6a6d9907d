package tour

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/foretime/foretime/shared/stats"
)

// manualRequest is the example of the original profiler's manual. The number in its
// answer is exact, which no float could hold.
const (
	manualRequest = `{"model": "model", "conv_layers": 66666666, "pool_layers": 77777777, "fc_layers": 34535353535, "filter_details": 66, "total_parameters": 10000000000000000000, "model_input_size": 345343543, "model_output_size": 123421435}`
	manualNumber  = `"total_parameters": 10000000000000000000`
)

// serveProfiling starts the service for this machine, sends it the manual's request
// some times, and ends it.
func (s *Stage) serveProfiling(ctx context.Context, times int) (m Measure) {
	if s.failed(nil) {
		return m
	}
	*s.commands = append(*s.commands, "edgeprof serve --source local --addr 127.0.0.1:0")
	cmd := exec.CommandContext(ctx, filepath.Join(s.Bin, "edgeprof"), "serve", "--source", "local", "--addr", "127.0.0.1:0")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute
	stdout, err := cmd.StdoutPipe()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if s.failed(err) || s.failed(cmd.Start()) {
		return m
	}
	line, _ := bufio.NewReader(stdout).ReadString('\n')
	m, err = answerTime(ctx, strings.TrimPrefix(strings.TrimSpace(line), "listening on "), times)
	if signal := cmd.Process.Signal(syscall.SIGTERM); err == nil {
		err = signal
	}
	if end := cmd.Wait(); err == nil {
		err = end
	}
	if err != nil {
		s.failed(fmt.Errorf("edgeprof serve: %w\n%s", err, tail(stderr.String())))
	}
	return m
}

// answerTime measures the time of an answer.
func answerTime(ctx context.Context, url string, times int) (Measure, error) {
	var took []float64 // milliseconds
	for range times {
		start := time.Now()
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/api/profiling", strings.NewReader(manualRequest))
		if err != nil {
			return Measure{}, err
		}
		r.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			return Measure{}, err
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			return Measure{}, err
		}
		took = append(took, 1000*time.Since(start).Seconds())
		if response.StatusCode != http.StatusOK || !strings.Contains(string(text), manualNumber) {
			return Measure{}, errors.New(response.Status + ": " + string(text))
		}
	}
	return Measure{"a profiling request, answered", stats.Median(took), "ms", fmt.Sprintf("median of %d to edgeprof serve; 10^19 parameters come back exact", times)}, nil
}

//go:build !race

package follow

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// format is a log of one loop: what is printed first, then a line for each number. In a line
// {i} is the number, {x} and {n} are values of no meaning, {%} is the share done in percent,
// {/} as a fraction, {left} the numbers and {eta} the seconds to come, {now} the time of day
// and {end} that of the end.
type format struct {
	name              string
	units             int    // that a user would give; 0 for none
	open              bool   // the log does not contain its length
	head              string // printed first
	line              string
	first, last, step int
}

var formats = []format{
	{"total after its value", 900, false, "  900  nsteps   number of steps\n  30.0  dt   step in seconds\n", "{i} 2001-01-01 00:10:00  {x}  {x}\n", 0, 900, 9},
	{"total after a code", 700, false, "  2.00  A001: VISC\n  700.0  A002: NSTEPS\n", "Step {i}, t= {x}\n", 1, 700, 7},
	{"run so many steps", 5000, false, "Read the input.\nRun 5000 steps.\n", "{i} {x} {x} {x}\n", 0, 5000, 50},
	{"run command", 8000, false, "thermo 100\nrun 8000\n   Step   Temp   Press\n", "   {i}   {x}  -{x}\n", 0, 8000, 100},
	{"YAML", 80, false, "optim:\n  lr: 0.01\n  epochs: 80\n  eval_every: 5\n", "epoch {i} train {x} valid {x}\n", 1, 80, 1},
	{"command line", 60, false, "+ python fit.py --epochs 60 --batch-size 32\n", "epoch {i} loss {x}\n", 1, 60, 1},
	{"namelist", 400, false, " nstlim  =  400, nscm = 1000\n ntpr = 4\n", " NSTEP = {i}  TIME(PS) = {x}  TEMP(K) = {n}\n", 4, 400, 4},
	{"argument list", 1000, false, "Namespace(lr=0.1, max_steps=1000, warmup_steps=100, save_steps=500)\n", "step {i} loss {x} lr {x}\n", 10, 1000, 10},
	{"number of steps", 200, false, "Number of time steps     200\nTime step [fs]     0.5\n", "Step number     {i}\nTemperature [K]    {x}\n", 2, 200, 2},
	{"end time", 0, false, "Simulation start time (s)  0.0\nSimulation end time (s)   100.0\n", "Step {n}, simulation time: {i}.0 s\n", 1, 99, 1},
	{"generations", 90, false, "Setting number of generations to 90\n", "{i} -- [-{x}] (-{x})\n", 1, 90, 1},
	{"events", 6000, false, "/run/beamOn 6000\n", "--> Event {i} starts.\n", 0, 6000, 60},
	{"trials", 70, false, "Optimizing with n_trials=70\n", "Trial {i} finished with value {x}. Best is trial 3.\n", 0, 69, 1},
	{"columns", 300, false, "max_epochs: 300\n", "! Train     {i}   {x}   {x}   {x}\n", 0, 299, 3},
	{"kimg", 100, false, "Training for 100 kimg...\n", "tick {n} kimg {i}.0 time {n}s sec/tick {x}\n", 1, 99, 1},
	{"pair", 120, false, "", "iteration {i}/120 loss {x}\n", 1, 120, 1},
	{"of", 120, false, "", "Time step {i} of 120, t = {x}\n", 1, 120, 1},
	{"of in parentheses", 1200, false, "", "Step {i} (of 1,200): E = -{x}\n", 10, 1200, 10},
	{"out of", 80, false, "", "Completed {i} out of 80 simulations; {n} MB\n", 1, 80, 1},
	{"von", 90, false, "", "Schritt {i} von 90: Residuum {x}\n", 1, 90, 1},
	{"suffixes", 0, false, "", "tokens: {i}.0M of 100.0M, loss {x}, {x}k tok/s\n", 1, 99, 1},
	{"sizes", 0, false, "", "\r\x1b[Kexporting {i}.0MB / 100.0MB", 1, 99, 1},
	{"brackets", 90, false, "", "[{i}/90] Building object lib{n}.o\n", 1, 90, 1},
	{"bar", 100, false, "", "\r {%}%|####      | {i}/100 [00:10<00:20, {x}it/s]", 0, 99, 1},
	{"evaluation alone", 100, false, "Loading checkpoint\n", "\rEvaluating:  {%}%|###   | {i}/100 [00:10<00:20, {x}it/s]", 0, 99, 1},
	{"test alone", 400, false, "", "Test: [{i}/400]\tTime {x} ({x})\tAcc {x} ({x})\n", 0, 400, 5},
	{"JSON, total after", 0, false, "", `{"done": {i}, "total": 100, "elapsed": {x}}` + "\n", 1, 99, 1},
	{"JSON, total before", 0, false, "", `{"total":400,"processed":{i},"rate":{x}}` + "\n", 4, 396, 4},
	{"JSON, of", 0, false, "", `{"key": "epoch_stop", "epoch_num": {i}, "of": 80}` + "\n", 1, 80, 1},
	{"percentage", 0, false, "", "{now} solved {%}% of the frame, gain {x} dB\n", 1, 99, 1},
	{"percentage in brackets", 0, false, "", "{now} <info> ({%}%) layer {n}, gain {x}\n", 1, 99, 1},
	{"named percentage", 0, false, "", "level=info msg=advanced done_pct={%} queue={n}\n", 1, 99, 1},
	{"percent complete", 0, false, "", "iteration {n} ({%} % completed), residual {x}\n", 1, 99, 1},
	{"fraction", 0, false, "", "<fraction_done>{/}</fraction_done> <cpu>{x}</cpu>\n", 1, 99, 1},
	{"plain progress", 0, false, "", "[worker] progress: {%}, residual {x}\n", 1, 99, 1},
	{"countdown", 0, false, "", "{left} jobs remaining, 8 running\n", 0, 90, 1},
	{"to go", 0, false, "", "made one in {x} s, {left} to go\n", 0, 90, 1},
	{"seconds left", 0, false, "", "frame {n} written, about {eta} seconds left\n", 0, 90, 1},
	{"remaining", 0, false, "", "{n}:\tlearn: {x}\tremaining: {eta}s\n", 0, 90, 1},
	{"estimated end", 0, false, "", "[{now}] cycle {n} ETC: {end}\n", 1, 90, 1},
	{"will finish", 0, false, "", "{now} step {n}, will finish Fri Jun 12 {end} 2031\n", 1, 90, 1},
	{"states", 80, false, "", "Number of trials: 80/80 (4 RUNNING, {i} TERMINATED)\nMemory: {x}/62.8 GiB\n", 0, 79, 1},
	{"resumed", 9000, false, "resuming from step 4000\nmax_steps: 9000\n", "step: {i} loss: {x}\n", 4000, 9000, 50},
	{"no total", 0, true, "eval_steps=500, save_steps=1000, warmup_steps=100, max_seq_length=512\n", "step {i} loss {x}\n", 10, 900, 10},
	{"a patience", 0, true, "", "step={i} loss={x} early_stopping_counter=3/10\n", 10, 900, 10},
	{"usage", 0, true, "", "gpu util {n}%, mem {%}%, disk 30%\n", 1, 90, 1},
	{"a rate", 0, true, "", "\r{i}it [00:10, {x}it/s]", 5, 450, 5},
	{"simulated dates", 0, true, "", "main: time 2001-01-01_0{n} on domain 1: {x} elapsed seconds\n", 1, 90, 1},
}

// events writes a log of about 40 seconds.
func (f format) events(p *player) []event {
	p.print("%s", f.head)
	n := (f.last - f.first) / f.step
	clock := func(at float64) string { return fmt.Sprintf("14:%02d:%02d", int(at)/60, int(at)%60) }
	for k := range n + 1 {
		p.wait(40 / float64(n+1))
		i := f.first + k*f.step
		share := float64(k) / float64(n)
		p.print("%s", strings.NewReplacer(
			"{i}", fmt.Sprint(i), "{x}", fmt.Sprintf("%.4f", p.loss()), "{n}", fmt.Sprint(p.IntN(1000)), "{%}", fmt.Sprintf("%.1f", 100*share),
			"{/}", fmt.Sprintf("%.4f", share), "{left}", fmt.Sprint(f.last-i), "{eta}", fmt.Sprintf("%.1f", 40*(1-share)),
			"{now}", clock(p.at), "{end}", clock(41+p.Float64()),
		).Replace(f.line))
	}
	return p.events
}

// TestFormats follows logs of one loop, without flags and with the number that a user would
// give: right within 15 % at a quarter and half of the way, silent if the log does not contain
// its length.
func TestFormats(t *testing.T) {
	for _, f := range formats {
		for _, units := range []int{0, f.units}[:min(2, 1+f.units)] {
			t.Run(fmt.Sprintf("%s/%d", f.name, units), func(t *testing.T) {
				p := newPlayer(f.name)
				at, early, name := watch(t, f.events(&p), units, 1, wrapped[""])
				for i, v := range at {
					if early || v.silent != f.open || !f.open && math.Abs(v.off) > 0.15 {
						t.Errorf("%d %%: %+v, early %v (%s)", 25*(i+1), v, early, name)
					}
				}
			})
		}
	}
}

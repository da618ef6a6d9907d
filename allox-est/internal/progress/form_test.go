package progress

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// trained returns lines of n epochs of m batches.
func trained(n, m int, line func(epoch, batch int) string) (lines []string) {
	for e := range n {
		for b := range m {
			lines = append(lines, line(e, b))
		}
	}
	return lines
}

// TestForms reads counters of forms that say their unit or their total in an indirect way.
// The lines come one a second.
func TestForms(t *testing.T) {
	for _, tt := range []struct {
		name   string
		units  float64
		lines  []string
		length float64 // 0: the output contains none
		last   float64 // of the marks
		rate   string  // how a counter without a length is described
	}{
		{name: "an end after epochs", lines: slices.Concat([]string{"[2031-01-02 10:00:00] [config] after-epochs: 12", "[2031-01-02 10:00:00] [config] after-batches: 0", "[2031-01-02 10:00:00] [config] valid-freq: 5000"}, every("[2031-01-02 10:00:00] Ep. %d : Up. 500 : Cost 9.5", 1, 5, 1)), length: 12, last: 5},
		{name: "names above columns", units: 20, lines: append([]string{"epoch     train_loss  valid_loss  time"}, every("%d         1.012       0.310     00:23", 0, 9, 1)...), length: 20, last: 10, rate: `9 in "number i" so far, 1 per second`},
		{name: "CSV", lines: append([]string{"epoch,iter,loss"}, every("0,%d,0.25", 0, 450, 50)...), rate: "450 iterations so far, 50 per second"},
		{name: "a table of bars", units: 40, lines: append([]string{"|  Epoch  |  Accuracy |"}, every("| %7d |      0.25 |", 1, 9, 1)...), length: 40, last: 9, rate: `9 in "number i" so far, 1 per second`},
		{name: "states of trials", lines: every("Trial status: %[1]d TERMINATED | 1 RUNNING", 1, 3, 1), rate: ""},
		{name: "a total next to the counter", lines: every(`level=info msg="train" step=%d total=200 loss=0.5`, 4, 40, 4), length: 200, last: 40},
		{name: "the last index as the total", units: 100, lines: every("epoch 0, iteration %d/99 | loss: 0.5 | consumed_samples: 16", 0, 20, 1), length: 100, last: 21},
		{name: "global steps inside of the first epoch", lines: every(`{"epoch":1,"global_step":%d,"num_training_steps":200,"loss":0.5}`, 4, 40, 4), length: 200, last: 40},
		{name: "a bar below the first of some epochs", lines: slices.Concat([]string{"Going into epoch 1"}, every("| %d/60 [00:01<00:02, 0.5it/s]", 1, 30, 1)), rate: `30 of 60 in "i/60" so far, 1 per second`},
		{name: "epochs with decimals of an announced number", lines: append([]string{"  Num Epochs = 3"}, trained(1, 9, func(_, b int) string { return fmt.Sprintf("{'loss': 0.5, 'epoch': %.2f}", 0.04*float64(b+1)) })...), length: 3, last: 0.36},
		{name: "hours left", lines: trained(1, 9, func(_, b int) string {
			return fmt.Sprintf("TIMING: x  Wall: 1.2, %.6f hours remaining", float64(91-b)/3600)
		}), length: 100, last: 8.79},
		{name: "an evaluation's own time left", lines: trained(9, 2, func(e, b int) string {
			return []string{fmt.Sprintf("train [1] eta: 0:01:%02d  loss: 0.5", 50-2*e), "val [1] eta: 0:00:00  loss: 0.5"}[b]
		}), length: 100, last: 14.54},
		{name: "the label of the next number", units: 100, lines: trained(1, 9, func(_, b int) string { return fmt.Sprintf("tick %d     kimg %.1f", b, 4*float64(b)) }), length: 100, last: 32},
		{name: "a setting that is no counter", units: 400, lines: append([]string{"stops after no improvement for 50 rounds"}, every("[%d]\tauc: 0.5", 10, 90, 10)...), length: 400, last: 90},
		{name: "seconds after a space", units: 30, lines: every("ExecutionTime = 0.5 s  ClockTime = %d s", 1, 9, 1)},
		{name: "a bar that looks like a date", lines: every("| 2.50%% [%d/12 00:01<00:03 0.5123]", 1, 6, 1), length: 12, last: 6},
		{name: "another number that equals the run's by chance", units: 20, lines: trained(4, 3, func(e, b int) string {
			return []string{fmt.Sprintf("step: %d is less", 3*e+1), fmt.Sprintf("step: %d is less", 3*e+2), fmt.Sprintf("Epoch %02d/20 | loss 0.5", e+1)}[b]
		}), length: 20, last: 4},
		{name: "the line of a source file", lines: every("2026-01-02 10:00:00,123 INFO train.py:87 Epoch: [%d] lr 0.1", 1, 9, 1), rate: "9 epochs so far, 1 per second"},
		{name: "the line of a source file before steps", lines: every("engine.py:187 Step: [%d]", 1, 9, 1), rate: "9 steps so far, 1 per second"},
		{name: "the line of a source file in parentheses", lines: every("train.py(87) epoch %d", 1, 9, 1), rate: "9 epochs so far, 1 per second"},
		{name: "the line of a function", lines: every("__main__:train:142 - Epoch %d: loss=0.5", 1, 9, 1), rate: "9 epochs so far, 1 per second"},
		{name: "the line of a module", lines: every("train:87 Epoch %d loss 0.5", 1, 9, 1), rate: "9 epochs so far, 1 per second"},
		{name: "lines of source files that grow", lines: every("train_step.py:%d: loss 0.5", 10, 90, 10)},
		{name: "the line of a source file before a nested loop", units: 3, lines: trained(2, 11, func(e, b int) string {
			return fmt.Sprintf("INFO train.py:87 Epoch: [%d][%d/101] loss 0.5", e, 10*b)
		}), length: 3, last: 1.99},
		{name: "a name with a dot", lines: every("train.step:%d loss:0.5", 1, 9, 1), rate: "9 steps so far, 1 per second"},
		{name: "a colon without a space", lines: append([]string{"max_steps:30"}, every("step:%d loss:0.5", 1, 9, 1)...), length: 30, last: 9},
		{name: "a bar in the first of the announced epochs", lines: append([]string{"epochs: 4"}, trained(1, 20, func(_, i int) string {
			return fmt.Sprintf("1|%d|loss 0.5: %d%%| | %d/40 [00:01<00:02, 8.1it/s]", i+1, 5*(i+1)/2, i+1)
		})...), length: 4, last: 0.5},
		{name: "identifiers of tasks", lines: trained(1, 20, func(_, i int) string {
			return fmt.Sprintf("[%02x/%06x] task > SORT (%d) [%3d%%] %d of 50", 37*i%256, 0xa10000+9999*i, i+1, 2*i+2, i+1)
		}), length: 50, last: 20},
		{name: "an epoch that other lines have counted on", lines: append([]string{"Resuming at step 0, epoch: 0"}, trained(4, 10, func(e, i int) string {
			bar := fmt.Sprintf("Training: %d%%| | %d/100 [00:01<00:02]", 10*e+i+1, 10*e+i+1)
			return bar + []string{"", fmt.Sprintf("\nEvaluating after epoch: %d", e+1)}[i/9]
		})...), length: 100, last: 40},
		{name: "a rank and their count", units: 5, lines: trained(3, 8, func(e, b int) string { return fmt.Sprintf("(0/4) Epoch %d, batch %d, loss 0.5", e+1, 50*b) }), length: 5, last: 2.86},
		{name: "a bar drawn below another one", lines: append([]string{"  0%| | 0/5 [00:00<?, ?it/s]"}, every("  0%%| | %d/40 [00:01<00:02, 0.5it/s]\x1b[A", 0, 30, 1)...), length: 5, last: 0.75},
		{name: "a bar of batches below that of epochs", lines: append([]string{"Epochs:   0%| | 0/5 [00:00<?, ?it/s]"}, every("Batches:  0%%| | %d/40 [00:01<00:02, 0.5it/s]", 0, 30, 1)...), length: 5, last: 0.75},
		{name: "a day without a year", lines: trained(1, 8, func(e, b int) string {
			return fmt.Sprintf("[06/12 09:00:%02d] Epoch: [%d] [%3d/200] loss 0.5", 8*e+b, e, 25*b)
		}), rate: `175 of 200 in "i/200" so far, 25 per second`},
		{name: "a padded counter before a clock", lines: trained(1, 8, func(_, b int) string { return fmt.Sprintf("Epoch %02d/20 00:00:%02d loss 0.5", b+1, b) }), length: 20, last: 8},
		{name: "scheduled epochs", lines: append([]string{"Scheduled epochs: 6. The rate steps per epoch."}, trained(2, 8, func(e, b int) string { return fmt.Sprintf("Train: %d [%4d/200] loss 0.5", e, 25*b) })...), length: 6, last: 1.875},
		{name: "epochs that are named from the second on", lines: trained(3, 8, func(e, b int) string {
			return strings.Repeat(fmt.Sprintf("Epoch %d of 6\n", e+1), min(e, 1)*(8-b)/8) + fmt.Sprintf("batch %d/40", 5*b)
		}), length: 6, last: 2.875},
		{name: "chains of different speeds", lines: trained(20, 2, func(e, b int) string {
			return fmt.Sprintf("Chain %d Iteration: %d / 2000 loss 0.5", b+1, 100*(e+1)/(b+1))
		}), length: 2000, last: 1000},
		{name: "a bar drawn below one that has ended", lines: append([]string{"100%| | 5/5 [00:00<?, ?it/s]"}, every(" 0%%| | %d/40 [00:01<00:02, 0.5it/s]\x1b[A", 0, 30, 1)...), length: 40, last: 30},
		{name: "stages without a known end", units: 40, lines: trained(2, 41, func(s, i int) string {
			return fmt.Sprintf("[Stage %d:%s>%*s(%d + 2) / 40]", s, strings.Repeat("=", i), 40-i, "", i)
		})[:44]},
		{name: "a stage of a known number", lines: trained(2, 20, func(s, i int) string { return fmt.Sprintf("Phase %d/4 step %d/20 loss 0.5", s+1, i+1) }), length: 4, last: 1.95},
		{name: "the first stage by a title", lines: slices.Concat([]string{"Stage 1: frozen"}, every("Epoch %d/20 - loss: 0.5", 1, 15, 1)), rate: `15 of 20 in "epoch i/20" so far, 1 per second`},
		{name: "a bar of plus signs", lines: trained(1, 30, func(_, i int) string {
			return fmt.Sprintf("  |%-50s| %2d%% elapsed=%02ds", strings.Repeat("+", i/2), i, i)
		}), length: 100, last: 29},
		{name: "hits of a test", lines: every("correct %d/40 loss 0.5", 1, 20, 1), rate: `20 of 40 in "correct i/40" so far, 1 per second`},
		{name: "an accuracy in percent", lines: every("acc %d%% loss 0.5", 1, 20, 1), rate: `20 of 100 in "acc i%" so far, 1 per second`},
		{name: "a GPU before a pair", lines: every("[GPU0][%d/40] loss 0.5", 1, 20, 1), length: 40, last: 20},
		{name: "a setting of stages", lines: slices.Concat([]string{"ZeRO stage: 1"}, every("Epoch %d/20 - loss: 0.5", 1, 15, 1)), length: 20, last: 15},
		{name: "an outer loop that ends its units, from 0", units: 10, lines: trained(5, 10, func(s, i int) string {
			if i == 9 {
				return fmt.Sprintf("number of bfgs steps = %d", s)
			}
			return fmt.Sprintf("iteration # %d     ecut= 40", i+1)
		}), length: 10, last: 5},
		{name: "a step in brackets after a position", lines: append([]string{"I0612 14:00:00 140 train.py:55] num_train_steps: 4000"}, every("I0612 14:00:00 140 writer.py:48] [%d] accuracy=0.5", 100, 1500, 100)...), length: 4000, last: 1500},
		{name: "a patience in epochs", lines: every("epochs of patience used: %d/40", 1, 20, 1)},
		{name: "a patience", lines: every("EarlyStopping counter: %d out of 40", 1, 20, 1)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := Reader{Units: tt.units}
			var s Splitter
			for i, line := range tt.lines {
				s.Split([]byte(line+"\n"), func(text string) { r.Line(text, float64(i+1)) })
			}
			last, pace := 0.0, ""
			if m := r.Marks(); len(m) > 0 {
				last = m[len(m)-1].Number
			}
			if found := r.Candidates(); len(found) > 0 && tt.rate != "" {
				pace = found[0].Pace()
			}
			if got := r.Length(); got != tt.length && !(tt.units > 0 && tt.length == 0 && last == 0) || last < tt.last-0.011 || last > tt.last+0.011 || pace != tt.rate {
				t.Errorf("%v of %v, %q; want %v of %v, %q (%s)", last, got, pace, tt.last, tt.length, tt.rate, r.Describe())
			}
		})
	}
}

// TestBriefLater: a counted bar stays the run's when it becomes so fast that it would end
// within ten seconds, until it begins again.
func TestBriefLater(t *testing.T) {
	r := Reader{}
	at := 0.0
	for i := range 60 {
		at += 0.2
		if i >= 20 {
			at -= 0.19
		}
		r.Line(fmt.Sprintf("batch %d/64", i), at)
		if got := r.Describe(); i > 8 && got != "batch i/64" {
			t.Fatalf("batch %d: %q", i, got)
		}
	}
	for i := range 8 {
		r.Line(fmt.Sprintf("batch %d/64", i), at+float64(i))
	}
	if got := r.Describe(); got != "" {
		t.Errorf("after the next begin: %q", got)
	}
}

// TestBrief: a bar that would end the run within ten seconds is no forecast, since the
// first of many looks the same; the caller, or a longer way, makes it one.
func TestBrief(t *testing.T) {
	for _, tt := range []struct {
		name   string
		reader Reader
		every  float64 // seconds between lines
		marks  bool
	}{
		{"a short bar", Reader{}, 0.1, false},
		{"a long bar", Reader{}, 0.3, true},
		{"a sample", Reader{Short: true}, 0.1, true},
		{"the caller's number", Reader{Units: 64}, 0.1, true},
		{"the caller's counter", Reader{Count: "i/64"}, 0.1, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := tt.reader
			for i := range 33 {
				r.Line(fmt.Sprintf("%3d%%|#####     | %d/64 [00:01<00:02]", 100*i/64, i), 1+tt.every*float64(i))
			}
			if marks := r.Marks(); len(marks) > 0 != tt.marks {
				t.Errorf("%d marks on the way", len(marks))
			}
			r.End(1 + tt.every*33)
			if marks := r.Marks(); len(marks) == 0 {
				t.Error("no marks at the end")
			}
		})
	}
}

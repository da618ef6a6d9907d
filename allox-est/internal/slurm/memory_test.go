package slurm

import "testing"

// The bound is that of an exchangeable next run; a limit that is there already is left alone.
func TestMemoryFor(t *testing.T) {
	for _, tt := range []struct {
		peak int64
		runs int
		want Memory
	}{
		{100 << 20, 1, Memory{PeakBytes: 100 << 20, LimitMiB: 150, Kill: 0.5}},
		{1 << 30, 3, Memory{PeakBytes: 1 << 30, LimitMiB: 1536, Kill: 0.25}},
		{1, 9, Memory{PeakBytes: 1, LimitMiB: 1, Kill: 0.1}},
	} {
		if got := MemoryFor(tt.peak, tt.runs); got != tt.want {
			t.Errorf("%d bytes in %d runs: %+v, want %+v", tt.peak, tt.runs, got, tt.want)
		}
	}
	s := Script{Directives: []string{"#SBATCH -N 1"}}
	if s.AsksMemory([]string{"--partition=gpu"}) || !s.AsksMemory([]string{"--mem-per-cpu=2G"}) {
		t.Error("options")
	}
	if s.Directives[0] = "#SBATCH --mem=4G"; !s.AsksMemory(nil) {
		t.Error("directives")
	}
}

// The command can be pasted into a shell.
func TestQuote(t *testing.T) {
	for want, argv := range map[string][]string{
		"sbatch --time=00:10:00 a.sbatch 5":        {"sbatch", "--time=00:10:00", "a.sbatch", "5"},
		"sbatch '--constraint=v100&nvme' a.sbatch": {"sbatch", "--constraint=v100&nvme", "a.sbatch"},
		`'it'\''s' '' 'a b'`:                       {"it's", "", "a b"},
	} {
		if got := Quote(argv); got != want {
			t.Errorf("%q: %s, want %s", argv, got, want)
		}
	}
}

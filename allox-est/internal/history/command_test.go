package history

import (
	"strings"
	"testing"
)

func TestCommandKey(t *testing.T) {
	same := func(a, b string) bool {
		return CommandKey(strings.Fields(a)) == CommandKey(strings.Fields(b))
	}
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"python3 train.py --lr 0.1", "/usr/bin/python3 /home/me/train.py --lr 0.1", true},
		{"python3 train.py --seed 1", "python3 train.py --seed 22", true},
		{"python3 train.py --seed=1 --lr 3", "python3 train.py --lr 3", true},
		{"python3 train.py trainer.random_seed=1", "python3 train.py trainer.random_seed=2", true},
		{"python3 train.py --out runs/a", "python3 train.py --out runs/b", true},
		{"python3 train.py --save_dir=a", "python3 train.py --save_dir=b", true},
		{"python3 train.py --data /mnt/a", "python3 train.py --data ../b", true},
		{"python3 train.py --lr 0.1", "python3 train.py --lr 0.2", false},
		{"python3 train.py --model meta/small", "python3 train.py --model meta/large", false},
		{"python3 train.py", "python3 eval.py", false},
		{"python3 train.py --seed", "python3 train.py --fast", false},
		{"python3 train.py --epochs 3 4", "python3 train.py --epochs 4 3", false},
		{"./a.sh --seedling 3", "./a.sh --seedling 4", false},
	} {
		if got := same(tt.a, tt.b); got != tt.same {
			t.Errorf("%q and %q: same %v, want %v", tt.a, tt.b, got, tt.same)
		}
	}
}

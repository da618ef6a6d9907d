package replay_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/foretime/foretime/chamtool/internal/replay"
	"github.com/foretime/foretime/chamtool/internal/task"
)

func ExampleRun() {
	table := replay.NewTable("rank 0")
	text := strings.NewReader(strings.Repeat("1\t8000\t0\t0.002\t0\n", 60))
	if _, err := task.ReadLog(text, "rank 0", task.Options{Format: task.FormatTab, Add: table.Add}); err != nil {
		fmt.Println(err)
		return
	}
	r, err := replay.Run(context.Background(), []*replay.Table{table}, replay.Options{})
	fmt.Printf("%d of %d predicted, MAPE %.1f %% (%v)\n", r.Test, r.Tasks, *r.MAPE, err)
	// Output: 50 of 60 predicted, MAPE 0.0 % (<nil>)
}

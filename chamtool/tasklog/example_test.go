package tasklog_test

import (
	"fmt"
	"strings"

	"github.com/foretime/foretime/chamtool/tasklog"
)

func ExampleRead() {
	text := "0\t8000\t2600\t0.0015\t0\n1\t16000\t2600\t0.0030\t0\n"
	log, err := tasklog.Read(strings.NewReader(text), "rank 0", tasklog.FormatMXM)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range log.Rows {
		fmt.Println(r.Entry, r.Sizes, r.Seconds)
	}
	// Output:
	// task [8000] 0.0015
	// task [16000] 0.003
}

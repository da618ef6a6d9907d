package measurement_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/foretime/foretime/edgeprof/measurement"
)

// A file of the original collector: its times are hours, minutes and seconds,
// and it lacks our columns.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	text := "conv_layers,device,execution_time,model_name\n5,raspberrypi,00:00:02.500000,alexnet\n5,raspberrypi,,alexnet\n"
	if err := os.WriteFile(filepath.Join(dir, "alexnet.onnx-raspberrypi.csv"), []byte(text), 0o644); err != nil {
		fmt.Println(err)
		return
	}
	data, err := measurement.ReadDir(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	row := data.Rows[0]
	fmt.Println(row.Family, row.Setting, row.Time.Value, "s;", data.Missing, "row without a time")
	// Output: alexnet raspberrypi 2.5 s; 1 row without a time
}

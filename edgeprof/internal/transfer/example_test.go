package transfer_test

import (
	"context"
	"fmt"
	"math"

	"github.com/foretime/foretime/edgeprof/internal/transfer"
)

// Thirty devices that differ in speed alone: one measured model tells the others.
func Example() {
	table := &transfer.Table{Models: []string{"large", "medium", "small"}}
	for i := range 30 {
		slow := math.Log(1 + float64(i)/5)
		table.Configs = append(table.Configs, transfer.Config{
			Board: fmt.Sprint(i), Chip: fmt.Sprint(i), Threads: 1, Log: []float64{math.Log(100) + slow, math.Log(30) + slow, math.Log(10) + slow},
		})
	}
	m, err := transfer.Learn(context.Background(), table, 1, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	p := m.PredictMilliseconds(&transfer.Config{Board: "new", Threads: 1, Log: []float64{math.NaN(), math.Log(60), math.NaN()}}, []int{1})
	fmt.Printf("%.0f and %.0f ms\n", p[0].Value, p[2].Value)
	// Output: 200 and 20 ms
}

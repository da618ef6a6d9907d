package config_test

import (
	"fmt"

	"github.com/foretime/foretime/chamtool/internal/config"
)

func ExampleRead() {
	environment := map[string]string{"CHAMTOOL_RING_SLOTS": "4096", "CHAMTOOL_BALANCE": "sideways"}
	c, warnings := config.Read(func(name string) (string, bool) { v, ok := environment[name]; return v, ok })
	fmt.Println(c.RingSlots, c.Balance)
	fmt.Println(warnings[0])
	// Output:
	// 4096 false
	// CHAMTOOL_BALANCE="sideways": unusable value: want off or proactive; using "off"
}

package config_test

import (
	"fmt"

	"github.com/foretime/foretime/chamtool/internal/config"
)

func ExampleRead() {
	environment := map[string]string{"CHAMTOOL_DRAIN_SECONDS": "0.25", "CHAMTOOL_BALANCE": "sideways"}
	c, warnings := config.Read(func(name string) (string, bool) { v, ok := environment[name]; return v, ok })
	fmt.Println(c.DrainEvery, c.Balance)
	fmt.Println(warnings[0])
	// Output:
	// 250ms off
	// CHAMTOOL_BALANCE="sideways": unusable value: want off or proactive; using "off"
}

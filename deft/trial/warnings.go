package trial

import (
	"fmt"

	"github.com/foretime/foretime/deft/experiment"
)

// warnings are what a configuration asks for that does not count here.
func warnings(x *experiment.Experiment) []string {
	var all []string
	for _, w := range x.Warnings {
		all = append(all, w.Error())
	}
	for _, m := range x.Models {
		if m.SyncLevel == "layer" {
			all = append(all, fmt.Sprintf("%s: sync_level layer needs the model's own layers: ignored here", m.OutputName))
		}
		if m.Kernels == 0 && external(m.ModelName) {
			all = append(all, fmt.Sprintf("%s: %s has the kernels of gpt2 here", m.OutputName, m.ModelName))
			continue
		}
		if m.Kernels == 0 && m.Height == 0 {
			all = append(all, fmt.Sprintf("%s: no resize_size: the kernels of an input of %dx%d", m.OutputName, defaultHeight, defaultWidth))
		}
	}
	return all
}

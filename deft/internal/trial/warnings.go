package trial

import (
	"fmt"

	"github.com/foretime/foretime/deft/internal/experiment"
)

// warnings lists the settings of a configuration that have no effect on a device.
func warnings(x *experiment.Experiment, device string) []string {
	var all []string
	for _, w := range x.Warnings {
		all = append(all, w.Error())
	}
	for _, m := range x.Models {
		if device == "cuda" {
			all = append(all, unknownToGPU(&m)...)
			continue
		}
		if m.SyncLevel == "layer" {
			all = append(all, fmt.Sprintf("%s: sync_level layer needs the model's own layers and is ignored", m.OutputName))
		}
		if in, assumed := m.Input(); assumed && m.Kernels == 0 {
			all = append(all, fmt.Sprintf("%s: no resize_size: simulated with an input of %dx%d", m.OutputName, in.Height, in.Width))
		}
	}
	return all
}

// unknownToGPU lists the settings of a model that only a simulated device has.
func unknownToGPU(m *experiment.Model) []string {
	var all []string
	for _, f := range []struct {
		name string
		set  bool
	}{{"trace", m.Trace != ""}, {"kernels", m.Kernels > 0 && m.Trace == ""}, {"graph", m.Graph > 0}, {"launch_ns", m.LaunchCost > 0 && m.Trace == ""}} {
		if f.set {
			all = append(all, fmt.Sprintf("%s: %s has no effect on a GPU and is ignored", m.OutputName, f.name))
		}
	}
	return all
}

package layers

import (
	"slices"
	"strings"
)

// Flow returns, by module, its packages in the order in which work flows through
// them: a package imports only those before it. Commands come last and are not in
// it, nor are test kits, below testkit. The module's README shows it too, as "first → second → third"; add a new
// package in both places.
func Flow() map[string]Order {
	return map[string]Order{
		"shared": order(`plural stats crash file registry access uncertainty record dataset timing regression regression/linear regression/tree regression/neural chart`),

		"allox-est": order(`python progress jobspec jobs journal launch sampling history estimate slurm backtest follow schedule report`),

		"chamtool": order(`event launch host task summary interval mixture perfmodel config forecast balance session job replay`),

		"deft": order(`cc gpu device session hook diagnosis simcuda pair policy observer experiment report simulator supervisor daemon trial`),

		"edgeprof": order(`onnx device synth runtime runtime/worker measurement collection transfer profiler placement prediction httpapi`),

		"mirage": order(`trace trace/synth cluster lengths simulator wait slurmview checker backtest chain samples policy model validation provision forecast`),
	}
}

// Order lists directories of a module, first to last.
type Order []string

func order(folders string) Order { return strings.Fields(folders) }

// backwards returns a domain package's imports of its own module that are not
// before it, and the package itself if the flow lacks it.
func backwards(f File) []Use {
	flow, known := Flow()[f.Module]
	folder := strings.TrimPrefix(strings.TrimPrefix(f.Dir, f.Module+"/"), "internal/")
	if !known || f.Test || command(f) || f.Dir == f.Module {
		return nil
	}
	at := slices.Index(flow, folder)
	if at < 0 && strings.HasSuffix(f.Name, "/doc.go") { // once, not for each file
		return []Use{{"package " + folder + " is not in the flow", 1}}
	} else if at < 0 {
		return nil
	}
	return imports(f, func(path string) bool {
		other, own := strings.CutPrefix(path, prefix+f.Module+"/")
		other = strings.TrimPrefix(other, "internal/")
		return own && !inCommand(other) && !slices.Contains(flow[:at], other)
	})
}

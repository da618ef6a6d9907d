package slurmview

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/foretime/foretime/mirage/internal/trace"
)

// ErrOption is returned when an option of sbatch cannot be understood.
var ErrOption = errors.New("not understood as an option of sbatch")

// Option is an option of sbatch (sbatch(1)).
type Option struct {
	Name, Short string
	Switch      bool // it takes no value, or an optional one
}

// Options that describe the job, and those that do not change when it starts.
var (
	shaping = []Option{
		{Name: "nodes", Short: "N"}, {Name: "time", Short: "t"}, {Name: "partition", Short: "p"}, {Name: "account", Short: "A"}, {Name: "qos", Short: "q"},
		{Name: "ntasks", Short: "n"}, {Name: "ntasks-per-node"}, {Name: "cpus-per-task", Short: "c"}, {Name: "mem"}, {Name: "mem-per-cpu"}, {Name: "mem-per-gpu"},
		{Name: "gres"}, {Name: "gpus", Short: "G"}, {Name: "gpus-per-node"}, {Name: "gpus-per-task"}, {Name: "cpus-per-gpu"}, {Name: "tres-per-task"}, {Name: "exclusive", Switch: true},
		{Name: "constraint", Short: "C"}, {Name: "reservation"}, {Name: "nodelist", Short: "w"}, {Name: "exclude", Short: "x"},
		{Name: "licenses", Short: "L"}, {Name: "array", Short: "a"}, {Name: "begin", Short: "b"}, {Name: "dependency", Short: "d"}, {Name: "hold", Short: "H", Switch: true},
	}
	harmless = []Option{
		{Name: "job-name", Short: "J"}, {Name: "output", Short: "o"}, {Name: "error", Short: "e"}, {Name: "input", Short: "i"}, {Name: "chdir", Short: "D"},
		{Name: "mail-type"}, {Name: "mail-user"}, {Name: "export"}, {Name: "comment"}, {Name: "wckey"}, {Name: "open-mode"}, {Name: "signal"}, {Name: "profile"},
		{Name: "distribution", Short: "m"}, {Name: "hint"}, {Name: "cpu-bind"}, {Name: "gpu-bind"}, {Name: "mem-bind"}, {Name: "propagate"}, {Name: "cpu-freq"},
		{Name: "requeue", Switch: true}, {Name: "no-requeue", Switch: true}, {Name: "parsable", Switch: true}, {Name: "verbose", Short: "v", Switch: true},
		{Name: "kill-on-invalid-dep"}, {Name: "get-user-env", Switch: true}, {Name: "wait", Short: "W", Switch: true}, {Name: "test-only", Switch: true}, {Name: "ntasks-per-core"}, {Name: "ntasks-per-socket"},
		{Name: "acctg-freq"}, {Name: "batch"}, {Name: "container"}, {Name: "container-id"}, {Name: "delay-boot"}, {Name: "export-file"}, {Name: "extra"},
		{Name: "gid"}, {Name: "uid"}, {Name: "gpu-freq"}, {Name: "ignore-pbs", Switch: true}, {Name: "mcs-label"}, {Name: "no-kill", Short: "k", Switch: true},
		{Name: "power"}, {Name: "quiet", Short: "Q", Switch: true}, {Name: "resv-ports", Switch: true}, {Name: "stepmgr", Switch: true}, {Name: "tres-bind"},
		{Name: "wait-all-nodes"}, {Name: "wrap"},
	}
	// unread may delay a start, and no forecast knows by how much.
	unread = []Option{
		{Name: "nice", Switch: true}, {Name: "priority"}, {Name: "switches"}, {Name: "tmp"}, {Name: "contiguous", Switch: true}, {Name: "deadline"},
		{Name: "oversubscribe", Short: "s", Switch: true}, {Name: "overcommit", Short: "O", Switch: true}, {Name: "core-spec", Short: "S"}, {Name: "threads-per-core"}, {Name: "sockets-per-node"}, {Name: "cores-per-socket"}, {Name: "prefer"}, {Name: "spread-job", Switch: true}, {Name: "mincpus"},
		{Name: "clusters", Short: "M"}, {Name: "cluster-constraint"}, {Name: "bb"}, {Name: "bbf"}, {Name: "extra-node-info", Short: "B"}, {Name: "nodefile", Short: "F"},
		{Name: "gpus-per-socket"}, {Name: "ntasks-per-gpu"}, {Name: "thread-spec"}, {Name: "time-min"}, {Name: "segment"},
		{Name: "use-min-nodes", Switch: true}, {Name: "reboot", Switch: true}, {Name: "gres-flags"}, {Name: "network"},
	}
)

// BatchOptions returns the options of sbatch that [ParseBatch] accepts.
func BatchOptions() []Option { return slices.Concat(shaping, harmless, unread) }

// Script returns the options in the #SBATCH lines of a batch script, which end at the
// first command. The error wraps ErrOption.
func Script(text string) (options []string, err error) {
	for i, line := range header(text) {
		rest, found := strings.CutPrefix(line, "#SBATCH")
		if !found {
			continue
		}
		words, err := split(rest)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		if len(words) == 1 && (words[0] == "hetjob" || words[0] == "packjob") {
			return nil, fmt.Errorf("line %d: %w: the parts of a heterogeneous job start together, which is not predicted; ask for each part, the latest start is a lower bound", i+1, ErrOption)
		}
		options = append(options, words...)
	}
	return options, nil
}

// header returns the lines of a batch script before its first command, without the spaces around
// them.
func header(script string) (lines []string) {
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") {
			break
		}
		lines = append(lines, line)
	}
	return lines
}

// HasPBS reports whether a batch script has #PBS lines before its first command, which sbatch
// reads too.
func HasPBS(script string) bool {
	return slices.ContainsFunc(header(script), func(line string) bool { return strings.HasPrefix(line, "#PBS") })
}

// split returns the words of a line, with quotes and up to a comment, as a shell has
// them.
func split(line string) (words []string, err error) {
	var word strings.Builder
	quote, inside := rune(0), false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, inside = r, true
		case r == '#' && !inside:
			return words, nil
		case r == ' ' || r == '\t' || r == '\r':
			if inside {
				words = append(words, word.String())
				word.Reset()
				inside = false
			}
		default:
			word.WriteRune(r)
			inside = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("%w: a quote is not closed in %q", ErrOption, strings.TrimSpace(line))
	}
	if inside {
		words = append(words, word.String())
	}
	return words, nil
}

// batch holds options by name.
type batch struct {
	values map[string]string
	unread []string // options, or parts of them, that are not read and may delay a start
	err    error
}

// ParseBatch reads the values of sbatch's options, by their long names, as a job that is
// asked for at a time; a switch that is given has a value. unreadable names those that may
// delay a start and are not read. The error wraps ErrOption.
func ParseBatch(values map[string]string, now time.Time) (a Ask, unreadable []string, err error) {
	b := batch{values: values}
	for _, o := range unread {
		if _, given := values[o.Name]; given {
			b.unread = append(b.unread, "--"+o.Name)
		}
	}
	a = b.job(now)
	if _, err := constraint(a.Features); err != nil {
		b.fail("constraint", err.Error())
	}
	return a, b.unread, b.err
}

func (b *batch) fail(name, why string) {
	if b.err == nil {
		b.err = fmt.Errorf("%w: --%s=%s: %s", ErrOption, name, b.values[name], why)
	}
}

// count reads a number with K or M; 0 if the option is not given.
func (b *batch) count(name string) int {
	text, given := b.values[name]
	if !given {
		return 0
	}
	n, err := parseSuffixed(text)
	if err != nil || n < 1 {
		b.fail(name, "want a number from 1")
	}
	return n
}

// parseSuffixed reads a number with K or M, which are 1024 and its square.
func parseSuffixed(text string) (int, error) {
	factor := 1
	switch {
	case strings.HasSuffix(strings.ToUpper(text), "K"):
		factor, text = 1024, text[:len(text)-1]
	case strings.HasSuffix(strings.ToUpper(text), "M"):
		factor, text = 1<<20, text[:len(text)-1]
	}
	n, err := strconv.Atoi(text)
	if n > math.MaxInt32/factor {
		return 0, strconv.ErrRange
	}
	return n * factor, err
}

// memory reads MB, or K, M, G or T; 0 if the option is not given.
func (b *batch) memory(name string) int64 {
	text, given := b.values[name]
	if !given || text == "0" {
		return 0
	}
	mb := trace.Amounts("mem=" + strings.TrimSuffix(strings.ToUpper(text), "B"))["mem"]
	if mb == 0 {
		b.fail(name, "want a size such as 16G")
	}
	return mb
}

// gpus reads a number of GPUs with or without a type, and remembers the type.
func (b *batch) gpus(name string, p *Place) int {
	text, given := b.values[name]
	if !given {
		return 0
	}
	if name != "gres" {
		if _, err := strconv.Atoi(text[strings.LastIndexByte(text, ':')+1:]); err != nil {
			text = "" // a type alone is not enough here
		}
		text = "gpu:" + text
	}
	if text == "gpu:" {
		b.fail(name, "want a number, or a type and a number such as a100:2")
		return 0
	}
	if kind, _ := gpuType(text); kind != "" {
		p.GPUType = kind
	}
	return gpusOf(text)
}

// job returns the job that the options describe.
func (b *batch) job(now time.Time) Ask {
	v := b.values
	a := Ask{Tasks: 1, Held: v["hold"] != ""}
	a.Partition = v["partition"]
	a.QOS = v["qos"]
	a.Licenses = v["licenses"]
	if !addLicenses(map[string]int64{}, a.Licenses) {
		b.fail("licenses", "want a name and a number, such as matlab:2")
	}
	a.Place = Place{Features: v["constraint"], Reservation: v["reservation"], Required: v["nodelist"], Excluded: v["exclude"]}
	if v["account"] != "" {
		a.Accounts = []string{v["account"]}
	}
	perNode, tasks := b.count("ntasks-per-node"), b.count("ntasks")
	b.amounts(&a)
	if a.GPUsPerTask > 0 {
		tasks = cmp.Or(tasks, over(a.Amounts.GPUs, a.GPUsPerTask))
	}
	b.nodes(&a, perNode, tasks)
	b.times(&a, now)
	a.Amounts.Tasks = tasks
	if tasks == 0 {
		a.Amounts.Tasks, a.TasksPerNode = 1, perNode
	}
	a.complete()
	if list := v["array"]; list != "" {
		n, err := trace.Tasks(list)
		if err != nil {
			b.fail("array", err.Error())
		}
		a.Tasks = n
		if _, together, found := strings.Cut(list, "%"); found {
			a.Together, _ = strconv.Atoi(together)
		}
	}
	return a
}

// nodes sets the least and the largest number of nodes, as given or by what each has.
func (b *batch) nodes(a *Ask, perNode, tasks int) {
	text := b.values["nodes"]
	if text == "" {
		a.Nodes, a.Spread = 1, perNode == 0 || tasks > 0
		if perNode > 0 {
			a.Nodes = max(over(tasks, perNode), 1)
		}
		if a.Amounts.GPUs > 0 && a.GPUsPerNode > 0 {
			a.Nodes = max(a.Nodes, over(a.Amounts.GPUs, a.GPUsPerNode))
		}
		return
	}
	least, most, ranged := strings.Cut(text, "-")
	n, err := parseSuffixed(least)
	if err != nil || n < 1 {
		b.fail("nodes", "want a number from 1, or a range")
		n = 1
	}
	a.Nodes = n
	if ranged {
		if a.MostNodes, err = parseSuffixed(most); err != nil || a.MostNodes < n {
			b.fail("nodes", "want a number from 1, or a range")
		}
		a.Spread = true
	}
}

func (b *batch) times(a *Ask, now time.Time) {
	v := b.values
	if text := v["time"]; text != "" && text != "0" {
		seconds, ok := trace.SlurmSeconds(text)
		if word := strings.ToLower(text); word == "unlimited" || word == "infinite" {
			seconds, ok = trace.Unlimited, true
		}
		a.Limit = seconds
		if !ok {
			b.fail("time", "want minutes, hours:minutes:seconds or days-hours")
		}
	}
	if text := v["begin"]; text != "" {
		at, err := trace.ParseNext(text, now.Location(), now.Unix())
		if err != nil {
			b.fail("begin", err.Error())
		}
		a.Eligible = max(at, now.Unix())
	}
	text := v["dependency"]
	ids, outcomes := dependencies(text)
	a.Outcomes = outcomes
	a.Either, a.After = eitherOf(text), strings.Join(ids, ",")
	switch {
	case !strings.Contains(text, "singleton"):
		if text != "" && len(ids) == 0 {
			b.fail("dependency", "want jobs such as afterany:12345:12346")
		}
	case v["job-name"] == "":
		b.unread = append(b.unread, "--dependency=singleton without --job-name")
	default:
		a.Singleton = v["job-name"]
	}
}

// amounts reads the CPUs, GPUs and memory.
func (b *batch) amounts(a *Ask) {
	p := &a.Place
	a.Amounts = Amounts{
		CPUsPerTask: max(b.count("cpus-per-task"), 1), CPUsPerGPU: b.count("cpus-per-gpu"),
		GPUs: b.gpus("gpus", p), GPUsPerNode: b.gpus("gres", p) + b.gpus("gpus-per-node", p), GPUsPerTask: b.gpus("gpus-per-task", p),
		MemoryPerNode: b.memory("mem"), MemoryPerCPU: b.memory("mem-per-cpu"), MemoryPerGPU: b.memory("mem-per-gpu"),
		Whole: b.values["exclusive"] != "" && b.values["exclusive"] != "user",
	}
	for _, part := range otherResources(b.values["gres"]) {
		b.unread = append(b.unread, "--gres="+part)
	}
	for part := range strings.SplitSeq(b.values["tres-per-task"], ",") {
		name, value, _ := strings.Cut(strings.Replace(part, "=", ":", 1), ":")
		n, err := strconv.Atoi(value)
		switch {
		case name == "":
		case name == "cpu" && err == nil && n > 0:
			a.CPUsPerTask = n
		case name == "gres/gpu":
			if kind, _ := gpuType("gpu:" + value); kind != "" {
				p.GPUType = kind
			}
			a.GPUsPerTask = gpusOf("gpu:" + value)
		default:
			b.unread = append(b.unread, "--tres-per-task="+part)
		}
	}
}

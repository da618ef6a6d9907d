package progress

import (
	"cmp"
	"regexp"
	"strings"
)

// unitWords are the words that name a unit of work, each with the unit.
var unitWords = func() map[string]string {
	words := map[string]string{}
	for unit, names := range map[string]string{
		"epoch":      "epoch epochs ep",
		"step":       "step steps timestep timesteps globalstep frame frames nsteps env_steps",
		"iteration":  "iter iters iteration iterations it its itr",
		"kimg":       "kimg nimg",
		"update":     "update updates up upd",
		"batch":      "batch batches minibatch minibatches",
		"sample":     "sample samples image images example examples draw draws",
		"round":      "round rounds tree trees",
		"fold":       "fold folds cv",
		"fit":        "fit fits",
		"trial":      "trial trials",
		"episode":    "episode episodes",
		"generation": "gen generation generations",
		"stage":      "stage stages phase phases",
		"progress":   "progress percentage percent pct done complete completed",
	} {
		for name := range strings.FieldsSeq(names) {
			words[name] = unit
		}
	}
	return words
}()

// outerUnits count what other units count inside of.
var outerUnits = map[string]bool{"epoch": true, "fold": true, "round": true, "trial": true, "stage": true}

// mainUnits count a job's own work at any place.
var mainUnits = map[string]bool{"epoch": true, "step": true, "iteration": true, "kimg": true, "update": true, "round": true, "fold": true, "progress": true, "trial": true, "episode": true}

// What the words before a number say of it.
var (
	sideWork  = regexp.MustCompile(`load|map\b|map |tokeniz|download|valid|\bval\b|eval|\btest|sanity|sav(?:e|ing)|shard|build(?:ing)? (?:wheel|index|data|vocab|cache)|cach|scan|extract|preproc|filter|convert|generat(?:ing|e)|infer|predict|fetch|install|warm`)
	measure   = regexp.MustCompile(`acc|loss|lr|rate|mem|gpu|util|mfu|cpu|prec|recall|dice|iou|f1|map|auc|wer|ppl|score|drop|top|usage|ram|skip|box|err`)
	announces = regexp.MustCompile(`max|total|num|train|^n_|for\s*$|until|target|schedul`)
	plural    = regexp.MustCompile(`^[\s"'\-]*(?:epochs|iterations|steps|episodes|rounds|trials|updates)["']?\s*[=:]\s*$`)
	settings  = regexp.MustCompile(`per|warm|eval|valid|sav|log|interval|decay|every|skip|patience|freq|accum|print|min|ckpt|check|init|test|current`)
	values    = regexp.MustCompile(`[a-z]+(?:_[a-z]+)*_(?:mean|avg|average|std|var|len|length|rew|reward|return|size|rate|time|secs?|seconds|loss|acc|err|error)\b`)
	clocks    = regexp.MustCompile(`elapsed|duration|seconds|(?:\b|_)(?:time|secs?|clock|wall)(?:\b|_)`)
	hits      = regexp.MustCompile(`acc\w*|correct\w*|hits?|success\w*|match\w*`)
	waits     = regexp.MustCompile(`patience|stopping|improve\w*`)
	writers   = regexp.MustCompile(`rank|gpu|cuda|node|worker|device|proc|host|chain|thread|replica|actor|agent`)
	totalOnly = regexp.MustCompile(`^[\s,;|"']*(?:total|max|end|target)["']?\s*[=:]\s*$`)
	anyState  = regexp.MustCompile(`(?i)^[\s)]*(terminated|finished|completed?|succeeded|done|pending|running|paused|error|errored|failed|queued|waiting)\b`)
	ended     = regexp.MustCompile(`(?i)^[\s)]*(terminated|finished|completed?|succeeded|done)\b`)
	bytesRate = regexp.MustCompile(`[kKMG]i?B/s`)
	// A unit of measurement.
	measurement = regexp.MustCompile(`^ (?:m?s|secs?|seconds?|min|minutes?|h|hours?|[KMGT]i?B|[kKMG]?[bB]ytes|fps)\b`)
	label       = regexp.MustCompile(`^\s*[:=]?\s*\d`)
	overall     = regexp.MustCompile(`global|total|overall`)
	// A name of a file, or of a module and a function, before the number of its line.
	position  = regexp.MustCompile(`(?:[\w\-]\.([A-Za-z]\w*)[:(]|[A-Za-z_][\w.]*:([A-Za-z_]\w*):)$`)
	titles    = regexp.MustCompile(`^\W*(?:stage|phase) *$`)
	glued     = regexp.MustCompile(`\w:$`)
	bracketed = regexp.MustCompile(`^(\s|\])?\[\s*$`)
)

// unit returns the unit that the last unit word of a lower-case text names. A name like
// ep_len_mean is that of a measured value.
func unit(text string) (found string) {
	if strings.Contains(text, "_") {
		text = values.ReplaceAllString(text, "")
	}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r < 'a' || r > 'z' }) {
		if u := cmp.Or(unitWords[word], unitWords[strings.TrimPrefix(word, "n")]); u != "" {
			found = u
		}
	}
	return found
}

// wordOf returns the word that a text begins with, after closing brackets.
func wordOf(after string) string {
	after = strings.TrimLeft(after, " \t])")
	n := 0
	for n < len(after) && letter(after[n]) && !digit(after[n]) {
		n++
	}
	if strings.HasPrefix(after[n:], "/s") || label.MatchString(after[n:]) {
		return "" // a rate, or the name of the next number
	}
	return strings.ToLower(after[:n])
}

// lastWord returns the word that a text ends with, before spaces.
func lastWord(text string) string {
	text = strings.TrimRight(text, " ")
	begin := len(text)
	for begin > 0 && letter(text[begin-1]) && !digit(text[begin-1]) {
		begin--
	}
	return text[begin:]
}

// phrase returns the end of a text, after its last separator.
func phrase(text, separators string) string {
	return text[strings.LastIndexAny(text, separators)+1:]
}

// unit returns the unit of a number: that of the nearest word before it, never across
// another number, or of the next one after it.
func (n *number) unit() string {
	left := n.left
	if cell := strings.TrimRight(left, " \t:="); strings.HasSuffix(cell, "|") {
		left = strings.TrimRight(cell, "| ") // a table's "| name | 3 |"
	}
	if n.name != "" {
		return unit(n.name)
	}
	u := unit(phrase(left, "|,;@"))
	if u == "" {
		u = unit(wordOf(n.after))
	}
	if u == "" && n.percent {
		u = "progress"
	}
	return u
}

// located reports whether a number is a line of the source file named before it.
func (n *number) located() bool {
	if !strings.HasSuffix(n.wide, ":") && !strings.HasSuffix(n.wide, "(") {
		return false
	}
	found := position.FindStringSubmatch(n.wide)
	return found != nil && unit(strings.ToLower(found[1]+found[2])) == ""
}

// configured reports whether the words before a number name a setting.
func configured(left string) bool {
	return announces.MatchString(left) || plural.MatchString(left) || settings.MatchString(left)
}

// announced returns the unit of which a number may be the total, as in "max_steps 500",
// empty where it is none.
func (n *number) announced() (u string) {
	text := phrase(n.left, "|,;@{(")
	if plural.MatchString(text) && !n.decimal && !n.percent && n.total == 0 && n.value > 1 {
		return unit(text)
	}
	if n.decimal || n.percent || n.total > 0 || n.value <= 1 || !announces.MatchString(" "+text+" ") || settings.MatchString(text) {
		return ""
	}
	if u = unit(text); u == "" && !glued.MatchString(text) { // not "train:87 Epoch"
		u = unit(wordOf(n.after))
	}
	return u
}

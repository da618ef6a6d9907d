package progress

import (
	"regexp"
	"strings"
)

// unitWords are the words that count work, as regular expressions of whole words, each with
// the unit that they name. Prefixes such as max_ and n_ are allowed before them.
var unitWords = func() map[string]*regexp.Regexp {
	units := map[string]*regexp.Regexp{}
	for unit, words := range map[string]string{
		"epoch":      `epochs?|ep|époques?|epoques?|epochen`,
		"fold":       `folds?|cv`,
		"fit":        `fits?`,
		"round":      `rounds?|boosting rounds?`,
		"trial":      `trials?`,
		"stage":      `phases?|stages?`,
		"step":       `(?:time|micro|train|global|env|policy)?[_ ]?steps?|nt|tsnumber|timesteps?|ntimes|nstlim|ntmabs|cycles?|increments?|schritte?|pas`,
		"iteration":  `iter(?:ation)?s?|its?|itr|inner_iter|iterationen|sweeps?`,
		"kimg":       `k?n?img`,
		"update":     `(?:num_)?updates?|upd?`,
		"batch":      `(?:mini)?batch(?:es)?`,
		"sample":     `samples?|images?|examples?|draws?|states?|chain length|frames?|pixels?`,
		"generation": `gen(?:eration)?s?`,
		"episode":    `episodes?`,
		"event":      `events?|beamon|histories|particles`,
		"item":       `items?|files?|jobs?|tasks?|trees?|records?|reads?|tests?|cases?|shards?|chunks?|pages?|rows?|lines?`,
		"day":        `days?`,
		"time":       `[a-z_]*time|t|t_?(?:final|end|stop|max)|duration|tend|tstop|tmax`,
		"progress":   `progress|percent(?:age)?|pct|done|completed?|fortschritt`,
	} {
		units[unit] = regexp.MustCompile(`(?:^|[^a-z])(?:(?:num|total|max|n|global|curr?ent)_?)?(?:` + words + `)(?:[^a-z]|$)`)
	}
	return units
}()

// Units of the work of a whole job, of what other units count inside of, and of those of
// which one may be announced where another is counted.
var (
	mainUnits  = setOf("epoch step iteration update round fold trial episode generation progress event time kimg")
	outerUnits = setOf("epoch fold round trial stage")
	stepUnits  = setOf("step iteration update generation sample event round item")
)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// Words next to a number, by what they say of it.
var (
	preparation = regexp.MustCompile(`load|map\b|map |tokeniz|download|sanity|cach|scan|extract|preproc|install|warm|fetch|build(?:ing)? (?:index|dataset|vocab|wheel)`)
	measured    = regexp.MustCompile(`acc|loss|lr|rate|mem|gpu|util|mfu|cpu|prec|recall|dice|iou|f1|map|auc|wer|ppl|score|drop|top|usage|ram|skip|box|err|patience|effic|conf|batter|disk|hit|temp|spars|best|thread|worker|running|failed|pass`)
	asides      = regexp.MustCompile(`patience|stopp|skip|fail|retr(?:y|ies)|error|cache|mem|gpu|rank|worker|node|attempt|restart|recover|lr\b|best|core|slot|cpu|thread|correct|acc\b`)
	wallClock   = regexp.MustCompile(`elapsed|cpu|wall|exec|clock|comput|took|taken|run_?time|per\b|spent`)
	doneWords   = regexp.MustCompile(`done|complet|current|process|finish|count|index|\bi\b|\bn\b|frames`)
	writerWords = regexp.MustCompile(`rank|gpu|cuda|node|worker|device|proc|host|chain|thread|replica|actor`)
	toGo        = regexp.MustCompile(`remain|left|to.?go|pending|todo|outstanding|verbleib`)
	fractions   = regexp.MustCompile(`(?:progress|fraction|done|complete|finished)\w*["']?\s*[:=>]\s*$`)
	plainShare  = regexp.MustCompile(`progress\W*$`)
	percentAt   = regexp.MustCompile(`^ ?(?:%|percent|pct|prozent)`)
	percentOf   = regexp.MustCompile(`percent|(?:^|_)pct|\(%\)`)
	finished    = regexp.MustCompile(`(?i)^[\s)]*(?:terminated|finished|completed?|succeeded|done)\b`)
	overall     = regexp.MustCompile(`global|total|overall|num_`)
	maximum     = regexp.MustCompile(`(?i)maximum|\bmax\b|at most|up to|limit`)
	converges   = regexp.MustCompile(`(?i)early.?stop|patience|toleran|converge`)
)

// Words next to a number that may be a total.
var (
	announces = regexp.MustCompile(`max|total|num|train|\bn_| for |until|target|final|last|\bend\b|terminat|stop|run\b|request|distinct|duration|length|beamon|nsw|nsteps?|nstlim|ntmabs|ntimes|with|production|\bto\b`)
	settings  = regexp.MustCompile(`per\b|_per|warm|eval|valid|\bsav|log|interval|decay|every|skip|patience|freq|accum|print|\bmin|ckpt|check|init|test|current|subiter|elm|linear|scf|mod\b|write|output|learning_rate|schedule(?:r|_|\b)|rampup|early|num_train_timesteps|diffusion|noise|\bstart(?:_| time|ing (?:epoch|step|iter))|size|scale|length of|keep|buffer|dt\b|ago|after(?:[^-]|$)|ms\b|best|summary|inner block|speed|took|procs|resum`)
	plurals   = regexp.MustCompile(`(?:epochs|steps|iters|iterations|updates|rounds|folds|trials|episodes|generations|events|ntimes|nsteps?|cycles|sweeps|histories)$`)
	endTimes  = regexp.MustCompile(`end|stop|final|terminat|max|until|duration|total`)
	allOf     = regexp.MustCompile(`(?:total|max|\bof)\W*$`)
)

// unitOf returns the unit that the last unit word of a lower-case text names; empty where it
// has none.
func unitOf(text string) (unit string) {
	last := 0
	for name, words := range unitWords {
		for _, at := range words.FindAllStringIndex(text, -1) {
			if at[1] > last || at[1] == last && name < unit {
				last, unit = at[1], name
			}
		}
	}
	return unit
}

// phraseOf returns the end of a text, after its last separator.
func phraseOf(text, separators string) string {
	return text[strings.LastIndexAny(text, separators)+1:]
}

var (
	nextName  = regexp.MustCompile(`(?i)^[\s\])]*(?:\w+ *[=:/#]|[a-z]+ +\d)`)
	bracketed = regexp.MustCompile(`#\W{0,3}\[\s*$`)
	csvNames  = regexp.MustCompile(`^[A-Za-z_]\w*(?:,[\w /]+)+$`)
	rowName   = regexp.MustCompile(`^[\s\])]*((?:[A-Za-z_]\w*)?)`)
)

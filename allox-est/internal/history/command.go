package history

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	// seedName matches the name of an option or a setting that seeds random numbers.
	seedName = regexp.MustCompile(`(?i)(^|[-_.])seed$`)
	// placeName matches the name of an option or a setting whose value is a place.
	placeName = regexp.MustCompile(`(?i)(^|[-_.])(dir|path|file|out|output|log|logs|save|ckpt|checkpoint)$`)
	scriptEnd = regexp.MustCompile(`\.(py|sh|sbatch|R|jl|pl)$`)
)

// CommandKey returns what the runs of a command have in common: its words without seeds and
// without the directories of paths. A path given to an option counts by the option's name alone;
// programs and scripts count by their own name.
func CommandKey(command []string) string {
	var key []string
	option := "" // whose value the next word is
	for i, word := range command {
		name, value, assigned := strings.Cut(word, "=")
		name = strings.TrimLeft(name, "-")
		switch {
		case strings.HasPrefix(word, "-") && !assigned:
			option = name
			if !seedName.MatchString(name) {
				key = append(key, word)
			}
			continue
		case assigned && seedName.MatchString(name), !assigned && seedName.MatchString(option):
		case assigned && (placeName.MatchString(name) || isPath(value)):
			key = append(key, name+"=")
		case i == 0, scriptEnd.MatchString(word):
			key = append(key, filepath.Base(word))
		case !assigned && (placeName.MatchString(option) || isPath(word)):
			key = append(key, "/")
		default:
			key = append(key, word)
		}
		option = ""
	}
	return strings.Join(key, "\x00")
}

// isPath reports whether a word is a path by its first characters. "meta/model" is none: it may
// be a name in a registry.
func isPath(word string) bool {
	return slices.ContainsFunc([]string{"/", "./", "../", "~/"}, func(begin string) bool { return strings.HasPrefix(word, begin) })
}

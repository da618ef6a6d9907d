package cli

import (
	"errors"
	"strconv"
)

// levelFlag is a flag for the level of intervals, between 0 and 1.
type levelFlag struct{ level *float64 }

// newLevelFlag returns a flag that sets a level, which is the default until then.
func newLevelFlag(level *float64, byDefault float64) levelFlag {
	*level = byDefault
	return levelFlag{level}
}

// String returns the level.
func (f levelFlag) String() string {
	if f.level == nil {
		return ""
	}
	return strconv.FormatFloat(*f.level, 'g', -1, 64)
}

// Type returns the name of the value in the help.
func (levelFlag) Type() string { return "float" }

// Set reads a level.
func (f levelFlag) Set(text string) error {
	level, err := strconv.ParseFloat(text, 64)
	if err != nil || !(level > 0 && level < 1) {
		return errors.New("want a number between 0 and 1")
	}
	*f.level = level
	return nil
}

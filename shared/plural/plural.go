package plural

import (
	"fmt"

	"github.com/dustin/go-humanize/english"
)

// Count returns a number and the name of what it counts, in the plural unless it is 1.
func Count(n int, thing string) string {
	return fmt.Sprintf("%d %s", n, english.PluralWord(n, thing, ""))
}

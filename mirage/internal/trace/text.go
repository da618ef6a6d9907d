package trace

import (
	"fmt"
	"time"
)

// Span returns a time in seconds in the largest unit that is exact, such as "12h".
func Span(seconds int64) string {
	switch n := seconds; {
	case n%86400 == 0 && n >= 3*86400:
		return fmt.Sprintf("%dd", n/86400)
	case n%3600 == 0 && n > 0:
		return fmt.Sprintf("%dh", n/3600)
	case n%60 == 0 && n > 0:
		return fmt.Sprintf("%dm", n/60)
	}
	return fmt.Sprintf("%ds", seconds)
}

// Clock returns a time in the log's time zone.
func (t *Trace) Clock(unix int64) string { return time.Unix(unix, 0).In(t.Zone).Format(time.DateTime) }

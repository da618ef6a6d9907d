package validation

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
)

// logColumns holds the columns of the original program's reward.log.
const logColumns = "pred_job_id,succ_job_id,expected_reward,actual_reward,reward_gen_time,index,backfill,submission"

// neverBackfilled is the time of the original's logs for a job that started in its turn.
const neverBackfilled = "2077-01-01 01:00:00"

// WriteLog writes reward.log: a rule with the title, the names of the eight
// columns, one line an episode, a rule. Rewards are hours; the time of a
// reward is the successor's start; times are wall clock of the zone; what is
// unknown is None.
func WriteLog(w io.Writer, played []Played, zone *time.Location) error {
	b := bufio.NewWriter(w)
	at := func(unix int64) string { return time.Unix(unix, 0).In(zone).Format(time.DateTime) }
	rule := strings.Repeat("-", 30)
	fmt.Fprintf(b, "%sreward%s\n%s\n", rule, rule, logColumns)
	for i := range played {
		p := &played[i]
		expected, backfill := "None", neverBackfilled
		if p.Decided.Expects {
			expected = fmt.Sprintf("%.6f", p.Decided.Expected.Value)
		}
		if p.Backfilled {
			backfill = at(p.SuccStart)
		}
		fmt.Fprintf(b, "1000000,1000001,%s,%.6f,%s,%d,%s,%s\n", expected, float64(p.RewardSeconds())/3600, at(p.SuccStart), i, backfill, at(p.Submitted))
	}
	fmt.Fprintln(b, strings.Repeat("-", 66))
	return b.Flush()
}

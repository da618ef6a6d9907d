package slurmview

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/foretime/foretime/mirage/internal/trace"
)

// limits are the limits of a site: of qualities of service, associations, licences and arrays.
type limits struct {
	caps      []limit          // on what runs at once, by number
	numbers   map[string]int32 // of a cap, by its name
	qos       map[string]columns
	assoc     map[string]columns // by user/account/partition; an account's own has no user
	account   map[string]string  // default, by user
	partition map[string]string  // QOS of a partition
	free      map[string]int64   // licences that no job has
	minutes   map[string]columns // what is used up of a budget, by the key of a level
	submitted map[string]int64   // jobs in the queue, by the name of a submit limit
	licenses  bool               // free is known
	enforced  bool               // a job needs an association and a QOS that exist
}

// limit is the largest sum of what jobs that run at once are charged.
type limit struct {
	name, kind string
	most       int64
}

// columns holds the columns of sacctmgr, by name, for a quality of service or an association.
type columns map[string]string

func newLimits() *limits {
	return &limits{
		numbers: map[string]int32{}, qos: map[string]columns{}, assoc: map[string]columns{}, account: map[string]string{},
		partition: map[string]string{}, free: map[string]int64{}, minutes: map[string]columns{}, submitted: map[string]int64{},
	}
}

// The columns that are asked of sacctmgr.
const (
	perJobColumns = "GrpTRESMins,GrpTRESRunMins,GrpWall,MaxTRES,MaxTRESPerNode,MaxTRESMins,MaxWall"
	qosColumns    = "Name,GrpJobs,GrpTRES,MaxJobsPU,MaxTRESPU,MaxJobsPA,MaxTRESPA,GrpSubmit,MaxSubmitPU,MaxSubmitPA,MinTRES,Preempt,GraceTime,Flags," + perJobColumns
	assocColumns  = "User,Account,GrpJobs,GrpTRES,MaxJobs,DefaultQOS,ParentName,Partition,Cluster,GrpSubmit,MaxSubmit," + perJobColumns
)

// readLimits reads the limits of qualities of service and associations, and the default
// accounts.
func (c *Client) readLimits(ctx context.Context, cluster string) (*limits, error) {
	l, budgets := newLimits(), false
	for _, table := range []struct {
		name, columns string
		add           func(r columns)
	}{
		{"qos", qosColumns, func(r columns) { l.qos[r["Name"]] = r }},
		{"assoc", assocColumns, func(r columns) {
			if r["Cluster"] == "" || cluster == "" || r["Cluster"] == cluster {
				l.assoc[r["User"]+"/"+r["Account"]+"/"+r["Partition"]] = r
			}
		}},
		{"user", "User,DefaultAccount", func(r columns) { l.account[r["User"]] = r["DefaultAccount"] }},
	} {
		b, err := c.Runner.Run(ctx, []string{"sacctmgr", "--noheader", "--parsable2", "show", table.name, "format=" + table.columns}, nil)
		if err != nil {
			return newLimits(), err
		}
		names := strings.Split(table.columns, ",")
		for _, line := range Lines(b) {
			r := columns{}
			for i, value := range strings.Split(line, "|") {
				if i < len(names) && value != "" {
					r[names[i]] = value
				}
			}
			table.add(r)
			budgets = budgets || r["GrpTRESMins"] != "" || r["GrpWall"] != ""
		}
	}
	if budgets {
		c.readMinutes(ctx, l)
	}
	return l, nil
}

// readMinutes reads what is used up of the budgets of minutes; they stay unknown if the
// controller does not show it.
func (c *Client) readMinutes(ctx context.Context, l *limits) {
	b, err := c.Runner.Run(ctx, []string{"scontrol", "--oneliner", "show", "assoc_mgr", "flags=assoc,qos"}, nil)
	if err != nil {
		return
	}
	bare := func(text string) string { name, _, _ := strings.Cut(text, "("); return name }
	for _, line := range Lines(b) {
		f := fieldsOf(line)
		key := "QOS " + bare(f["QOS"])
		if f["Account"] != "" {
			key = associationName(bare(f["UserName"]), f["Account"])
		}
		used := columns{}
		for part := range strings.SplitSeq("wall="+f["GrpWall"]+","+f["GrpTRESMins"], ",") {
			name, value, _ := strings.Cut(part, "=")
			_, value, _ = strings.Cut(value, "(")
			used[name] = strings.TrimSuffix(value, ")")
		}
		l.minutes[key] = used
	}
}

// readLicenses reads how many licences no job has.
func (c *Client) readLicenses(ctx context.Context, l *limits) {
	b, err := c.Runner.Run(ctx, []string{"scontrol", "--oneliner", "show", "licenses"}, nil)
	if err != nil {
		return
	}
	for _, line := range Lines(b) {
		f := fieldsOf(line)
		free, err := strconv.ParseInt(f["Free"], 10, 64)
		if err == nil && f["LicenseName"] != "" {
			l.free[f["LicenseName"]], l.licenses = free, true
		}
	}
}

// subject is a job as limits see it.
type subject struct {
	user, account, qos, partition string

	amounts  map[string]int64 // by the name of a trackable resource; memory in MB
	seconds  int64            // time limit
	array    int64            // id; 0 is none
	together int              // tasks of the array that may run at once; 0 is any
}

// addLicenses adds the licences of sbatch's --licenses, "name:2" or "name", and reports
// whether it is understood: one of several is not.
func addLicenses(amounts map[string]int64, text string) bool {
	if text == "" || text == "(null)" {
		return true
	}
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ';' }) {
		name, count, counted := strings.Cut(strings.ReplaceAll(part, "=", ":"), ":")
		n := int64(1)
		if counted {
			var err error
			if n, err = strconv.ParseInt(count, 10, 64); err != nil {
				return false
			}
		}
		amounts["license/"+name] += n
	}
	return !strings.Contains(text, "|")
}

// level is a step of the hierarchy of limits (Slurm, Resource Limits): the QOS of the
// partition, that of the job, the association of the user, then those of its accounts.
type level struct {
	owner string // QOS, Assoc of a user, or Account
	name  string // such as "QOS normal"
	columns
}

func associationName(user, account string) string {
	if user == "" {
		return "account " + account
	}
	return "user " + user + " of account " + account
}

// levels returns the levels that a job is under, the first ones first: the QOS of its partition
// goes before its own, unless that has the flag OverPartQOS.
func (l *limits) levels(s *subject) (levels []level) {
	qualities := slices.Compact([]string{l.partition[s.partition], s.qos})
	if slices.Contains(strings.Split(l.qos[s.qos]["Flags"], ","), "OverPartQOS") {
		slices.Reverse(qualities)
	}
	for _, qos := range qualities {
		if r, ok := l.qos[qos]; ok {
			levels = append(levels, level{"QOS", "QOS " + qos, r})
		}
	}
	own, ok := l.assoc[s.user+"/"+s.account+"/"+s.partition]
	if !ok {
		own = l.assoc[s.user+"/"+s.account+"/"]
	}
	if s.user != "" && own != nil {
		levels = append(levels, level{"Assoc", associationName(s.user, s.account), own})
	}
	seen := map[string]bool{}
	for account := s.account; account != "" && !seen[account]; account = l.assoc["/"+account+"/"]["ParentName"] {
		seen[account] = true
		if r, ok := l.assoc["/"+account+"/"]; ok {
			levels = append(levels, level{"Account", associationName("", account), r})
		}
	}
	return levels
}

// group is a set of jobs that a limit counts together.
type group struct {
	per                string // in Slurm's reasons
	jobs, tres, submit string // columns
}

// groups are the groups of a QOS and of an association.
var groups = map[string][]group{
	"QOS":     {{"Grp", "GrpJobs", "GrpTRES", "GrpSubmit"}, {"PerUser", "MaxJobsPU", "MaxTRESPU", "MaxSubmitPU"}, {"PerAccount", "MaxJobsPA", "MaxTRESPA", "MaxSubmitPA"}},
	"Assoc":   {{"Grp", "GrpJobs", "GrpTRES", "GrpSubmit"}, {"Max", "MaxJobs", "", "MaxSubmit"}},
	"Account": {{"Grp", "GrpJobs", "GrpTRES", "GrpSubmit"}},
}

// key returns the name of a group of jobs.
func (g group) key(v level, s *subject) string {
	switch g.per {
	case "PerUser":
		return v.name + " for user " + s.user
	case "PerAccount":
		return v.name + " for account " + s.account
	}
	return v.name
}

// eachLimit calls f for the limits that hold for a job, with the group's key. A limit that a
// QOS sets takes the place of the same limit of the levels behind it.
func (l *limits) eachLimit(s *subject, f func(v level, g group, column, resource string, most int64)) {
	set := map[string]string{} // who set it
	for _, v := range l.levels(s) {
		for _, g := range groups[v.owner] {
			all := map[string]int64{}
			for _, column := range []string{g.jobs, g.submit} {
				if n, err := strconv.ParseInt(v.columns[column], 10, 64); err == nil {
					all[column+" jobs"] = n
				}
			}
			for name, most := range trace.Amounts(v.columns[g.tres]) {
				all[g.tres+" "+name] = most
			}
			for _, name := range slices.Sorted(maps.Keys(all)) {
				column, resource, _ := strings.Cut(name, " ")
				same := strings.Replace(name, "PU ", " ", 1)
				if set[same] == "QOS" {
					continue
				}
				set[same] = v.owner
				f(v, g, column, resource, all[name])
			}
		}
	}
}

// charges returns what a job is charged while it runs, and the limits for which that is
// unknown.
func (l *limits) charges(s *subject) (charges []trace.Charge, unknown []string) {
	add := func(name, kind string, most, amount int64) {
		n, ok := l.numbers[name]
		if !ok {
			n = int32(len(l.caps))
			l.caps, l.numbers[name] = append(l.caps, limit{name, kind, most}), n
		}
		charges = append(charges, trace.Charge{Cap: n, Amount: amount})
	}
	l.eachLimit(s, func(v level, g group, column, resource string, most int64) {
		name := fmt.Sprintf("%s %s of %s", column, resource, g.key(v, s))
		amount, known := s.amounts[resource]
		kind := strings.Replace(v.owner, "Account", "Assoc", 1) + g.per + "/"
		switch {
		case column == g.submit:
		case resource == "jobs":
			add(name, kind+"jobs", most, 1)
		case !known && resource == "billing":
			unknown = append(unknown, name)
		case amount > 0:
			add(name, kind+resourceClass(resource), most, amount)
		}
	})
	for _, name := range slices.Sorted(maps.Keys(s.amounts)) {
		license, ok := strings.CutPrefix(name, "license/")
		free, known := l.free[license]
		switch {
		case ok && known:
			add("licences "+license, "Licenses", free, s.amounts[name])
		case ok:
			unknown = append(unknown, "licences "+license)
		}
	}
	if s.together > 0 {
		add("tasks at once of array "+strconv.FormatInt(s.array, 10), "JobArrayTaskLimit", int64(s.together), 1)
	}
	return charges, unknown
}

// resourceClass returns the name of a trackable resource in Slurm's reasons, in small letters.
func resourceClass(name string) string {
	kind, _, _ := strings.Cut(name, "/")
	if slices.Contains([]string{"cpu", "mem", "node", "gres", "license", "bb", "energy", "billing"}, kind) {
		return kind
	}
	return "unknown"
}

// most returns the caps as the simulator takes them.
func (l *limits) most() []int64 {
	caps := make([]int64, len(l.caps))
	for i := range l.caps {
		caps[i] = l.caps[i].most
	}
	return caps
}

// count adds a job of the queue to what limits of submissions count, and the licences of
// one that runs to those there are.
func (l *limits) count(s *subject, tasks int64, running bool) {
	l.eachLimit(s, func(v level, g group, column, _ string, _ int64) {
		if column == g.submit {
			l.submitted[column+g.key(v, s)] += tasks
		}
	})
	for name, n := range s.amounts {
		if license, ok := strings.CutPrefix(name, "license/"); ok && running && l.licenses {
			l.free[license] += n
		}
	}
}

// perJob are the limits on each job: the column, and what of a job is compared with it.
var perJob = []struct {
	column string
	wants  func(s *subject, resource string) int64
	least  bool
}{
	{"MaxTRES", func(s *subject, r string) int64 { return s.amounts[r] }, false},
	{"MinTRES", func(s *subject, r string) int64 { return s.amounts[r] }, true},
	{"MaxTRESMins", func(s *subject, r string) int64 { return s.amounts[r] * s.seconds / 60 }, false},
	{"MaxTRESPerNode", func(s *subject, r string) int64 {
		nodes := max(s.amounts["node"], 1)
		return (s.amounts[r] + nodes - 1) / nodes
	}, false},
	{"MaxWall", func(s *subject, _ string) int64 { return s.seconds / 60 }, false},
}

// refusal says why a job is too large for a limit, or comes too late for a budget; "" if it
// does not. A job that waits is in the queue already.
func (l *limits) refusal(s *subject, charges []trace.Charge, waits bool) string {
	for _, c := range charges {
		if most := l.caps[c.Cap].most; c.Amount > most {
			return fmt.Sprintf("%s is %d, and the job wants %d", l.caps[c.Cap].name, most, c.Amount)
		}
	}
	why := cmp.Or(l.findStranger(s), l.findOversize(s))
	l.eachLimit(s, func(v level, g group, column, _ string, most int64) {
		if n := l.submitted[column+g.key(v, s)]; column == g.submit && !waits && n >= most {
			why = cmp.Or(why, fmt.Sprintf("sbatch refuses it now: %s has %d jobs in the queue, and %s is %d", g.key(v, s), n, column, most))
		}
	})
	for _, v := range l.levels(s) {
		for _, b := range l.budgets(v, s) {
			if b.known && b.used >= b.most {
				why = cmp.Or(why, fmt.Sprintf("the budget %s is used up: %d of %d minutes", b.name, b.used, b.most))
			}
		}
	}
	return why
}

// findStranger says which name of a job the accounting does not know; "" for none. Tables that
// were not shown say nothing.
func (l *limits) findStranger(s *subject) string {
	if !l.enforced {
		return ""
	}
	if _, ok := l.qos[s.qos]; !ok && s.qos != "" && len(l.qos) > 0 {
		return "the accounting has no QOS " + s.qos
	}
	hasUser, hasAccount := false, false
	hasUserOfAccount := len(l.assoc) == 0 || s.user == ""
	for _, r := range l.assoc {
		sameUser := s.user == r["User"]
		sameAccount := s.account == "" || s.account == r["Account"]
		hasUser = hasUser || sameUser
		hasAccount = hasAccount || sameAccount
		hasUserOfAccount = hasUserOfAccount || sameUser && sameAccount
	}
	switch {
	case hasUserOfAccount:
		return ""
	case !hasAccount:
		return "the accounting has no account " + s.account
	case !hasUser:
		return "the accounting has no association of user " + s.user
	}
	return "the accounting has no association of user " + s.user + " with account " + s.account
}

// findOversize says which limit on each job a job does not keep; "" for none.
func (l *limits) findOversize(s *subject) string {
	set := map[string]bool{}
	for _, v := range l.levels(s) {
		if v.owner == "Account" { // the association of the user has what it inherits
			continue
		}
		for _, rule := range perJob {
			all := trace.Amounts(v.columns[rule.column])
			if seconds, ok := trace.SlurmSeconds(v.columns[rule.column]); ok && seconds > 0 {
				all["minutes"] = seconds / 60
			}
			for _, name := range slices.Sorted(maps.Keys(all)) {
				most, wants := all[name], rule.wants(s, name)
				if !set[rule.column+name] && (wants > most && !rule.least || wants < most && rule.least) {
					return fmt.Sprintf("%s %s of %s is %d, and the job wants %d", rule.column, name, v.name, most, wants)
				}
				set[rule.column+name] = true
			}
		}
	}
	return ""
}

// complete adds the default account and quality of service of the user.
func (l *limits) complete(user string, accounts []string, qos string) ([]string, string) {
	if name := l.account[user]; len(accounts) == 0 && name != "" {
		accounts = []string{name}
	}
	if qos == "" && len(accounts) == 1 {
		qos = l.assoc[user+"/"+accounts[0]+"/"]["DefaultQOS"]
	}
	if _, ok := l.qos["normal"]; ok && qos == "" { // that of a new cluster
		qos = "normal"
	}
	return accounts, qos
}

// budget is a sum of minutes that a group of jobs may use.
type budget struct {
	name             string
	used, most, need int64 // minutes
	known            bool  // used is
}

// budgets returns the budgets of a level that a job draws on.
func (l *limits) budgets(v level, s *subject) (all []budget) {
	most := trace.Amounts(v.columns["GrpTRESMins"])
	if seconds, ok := trace.SlurmSeconds(v.columns["GrpWall"]); ok && seconds > 0 {
		most["wall"] = seconds / 60
	}
	for _, name := range slices.Sorted(maps.Keys(most)) {
		each, given := s.amounts[name]
		if name == "wall" || !given && name == "billing" {
			each = 1
		}
		if each == 0 {
			continue
		}
		used, err := strconv.ParseFloat(l.minutes[v.name][name], 64)
		all = append(all, budget{name + " minutes of " + v.name, int64(used), most[name], each * s.seconds / 60, err == nil})
	}
	return all
}

// doubts names the limits of a job that are not modelled: budgets that may not be enough, and
// limits on minutes that are still to run.
func (l *limits) doubts(s *subject) (doubts []string) {
	for _, v := range l.levels(s) {
		for _, b := range l.budgets(v, s) {
			switch {
			case !b.known:
				doubts = append(doubts, "what is used up of the budget "+b.name)
			case b.used < b.most && b.used+b.need > b.most:
				doubts = append(doubts, fmt.Sprintf("the budget %s (%d of %d minutes are used up)", b.name, b.used, b.most))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(trace.Amounts(v.columns["GrpTRESRunMins"]))) {
			if s.amounts[name] > 0 || name == "billing" {
				doubts = append(doubts, "GrpTRESRunMins "+name+" of "+v.name)
			}
		}
	}
	return doubts
}

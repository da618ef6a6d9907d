package slurmview

import (
	"errors"
	"strings"
	"testing"

	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// row returns a line of sacctmgr: values by column.
func row(columns string, values map[string]string) string {
	var words []string
	for name := range strings.SplitSeq(columns, ",") {
		words = append(words, values[name])
	}
	return strings.Join(words, "|") + "\n"
}

type table = map[string]string

// limitedSite has a QOS, accounts in two steps and a user eva of the lower one; a job of eva's
// runs for three hours on w1.
func limitedSite(qos, account, user table) site {
	s := plainSite()
	s["show config"] += "AccountingStorageEnforce = associations,limits,qos\nClusterName = c\n"
	qos["Name"] = "fast"
	account["Account"] = "dept"
	user["User"], user["Account"], user["DefaultQOS"] = "eva", "lab", "normal"
	s["show qos"] = row(qosColumns, table{"Name": "normal"}) + row(qosColumns, qos)
	s["show assoc format"] = row(assocColumns, account) + row(assocColumns, table{"Account": "lab", "ParentName": "dept"}) + row(assocColumns, user) +
		row(assocColumns, table{"User": "eva", "Account": "lab", "Cluster": "other", "MaxJobs": "1"})
	s["show user"] = "eva|lab\nbob|dept\n"
	s["show licenses"] = "LicenseName=sim Total=3 Used=2 Free=1 Reserved=0 Remote=no\n"
	s["squeue"] = `{"jobs":[` + running(1, 1, "w1", 240, `,"account":"lab","qos":"fast","licenses":"sim:2"`) + `]}`
	return s
}

func TestLimits(t *testing.T) {
	fast := func(a *Ask) { a.QOS = "fast" }
	for name, tt := range map[string]struct {
		qos, account, user table
		change             func(s site)
		ask                func(a *Ask)
		hours              float64 // of the wait
		refuses            string
		doubts             string
	}{
		"none":                       {ask: fast},
		"jobs of a user":             {qos: table{"MaxJobsPU": "1"}, ask: fast, hours: 3},
		"jobs of another QOS":        {qos: table{"MaxJobsPU": "1"}},
		"jobs of another user":       {qos: table{"MaxJobsPU": "1"}, ask: func(a *Ask) { a.QOS, a.User = "fast", "bob" }},
		"jobs of an account":         {qos: table{"MaxJobsPA": "1"}, ask: func(a *Ask) { a.QOS, a.User, a.Accounts = "fast", "bob", []string{"lab"} }, hours: 3},
		"CPUs of a user":             {qos: table{"MaxTRESPU": "cpu=31"}, ask: fast, hours: 3},
		"enough CPUs":                {qos: table{"MaxTRESPU": "cpu=32"}, ask: fast},
		"CPUs of an account":         {qos: table{"MaxTRESPA": "cpu=31"}, ask: func(a *Ask) { a.QOS, a.User, a.Accounts = "fast", "bob", []string{"lab"} }, hours: 3},
		"CPUs of all":                {qos: table{"GrpTRES": "cpu=20"}, ask: func(a *Ask) { a.QOS, a.User, a.Accounts = "fast", "bob", []string{"dept"} }, hours: 3},
		"parent account":             {account: table{"GrpTRES": "cpu=31"}, hours: 3},
		"association":                {user: table{"MaxJobs": "1"}, hours: 3},
		"a QOS goes before accounts": {qos: table{"MaxJobsPU": "9"}, user: table{"MaxJobs": "1"}, ask: fast},
		"partition's QOS": {qos: table{"MaxJobsPU": "1"}, change: func(s site) {
			s["show partitions"] = strings.Replace(s["show partitions"], "Default=YES", "Default=YES QoS=fast", 1)
		}, hours: 3},
		"QOS over that of the partition": {qos: table{"MaxJobsPU": "1"}, change: func(s site) {
			s["show partitions"] = strings.Replace(s["show partitions"], "Default=YES", "Default=YES QoS=fast", 1)
			s["show qos"] += row(qosColumns, table{"Name": "wide", "MaxJobsPU": "9", "Flags": "DenyOnLimit,OverPartQOS"})
		}, ask: func(a *Ask) { a.QOS = "wide" }},
		"QOS under that of the partition": {qos: table{"MaxJobsPU": "1"}, change: func(s site) {
			s["show partitions"] = strings.Replace(s["show partitions"], "Default=YES", "Default=YES QoS=fast", 1)
			s["show qos"] += row(qosColumns, table{"Name": "wide", "MaxJobsPU": "9"})
		}, ask: func(a *Ask) { a.QOS = "wide" }, hours: 3},
		"too many CPUs for a job": {qos: table{"MaxTRES": "cpu=8"}, ask: fast, refuses: "MaxTRES cpu of QOS fast is 8, and the job wants 16"},
		"too few":                 {qos: table{"MinTRES": "gres/gpu=2"}, ask: fast, refuses: "MinTRES"},
		"too long":                {user: table{"MaxWall": "00:30:00"}, refuses: "MaxWall"},
		"never":                   {qos: table{"GrpTRES": "cpu=8"}, ask: fast, refuses: "GrpTRES cpu of QOS fast is 8, and the job wants 16"},
		"submissions":             {qos: table{"MaxSubmitPU": "1"}, ask: fast, refuses: "sbatch refuses it now"},
		"budget used up": {account: table{"GrpTRESMins": "cpu=100"}, change: func(s site) {
			s["assoc_mgr"] = "ClusterName=c Account=dept UserName= GrpWall=N(3.50) GrpTRESMins=cpu=100(140),mem=N(0)\n"
		}, refuses: "cpu minutes of account dept is used up: 140 of 100"},
		"budget almost": {account: table{"GrpTRESMins": "cpu=100"}, change: func(s site) {
			s["assoc_mgr"] = "ClusterName=c Account=dept UserName= GrpTRESMins=cpu=100(14)\n"
		}, doubts: "cpu minutes of account dept (14 of 100"},
		"budget left": {account: table{"GrpTRESMins": "cpu=10000"}, change: func(s site) {
			s["assoc_mgr"] = "ClusterName=c Account=dept UserName= GrpTRESMins=cpu=10000(14)\n"
		}},
		"budget unknown":   {account: table{"GrpTRESMins": "cpu=100"}, doubts: "what is used up of the budget cpu minutes of account dept"},
		"minutes to run":   {qos: table{"GrpTRESRunMins": "cpu=100"}, ask: fast, doubts: "GrpTRESRunMins cpu of QOS fast"},
		"billing":          {qos: table{"GrpTRES": "billing=100"}, ask: fast, doubts: "GrpTRES billing of QOS fast"},
		"one licence":      {ask: func(a *Ask) { a.Licenses = "sim" }},
		"two licences":     {ask: func(a *Ask) { a.Licenses = "sim:2" }, hours: 3},
		"unknown licence":  {ask: func(a *Ask) { a.Licenses = "cad:1" }, doubts: "licences cad"},
		"too many of them": {ask: func(a *Ask) { a.Licenses = "sim:4" }, refuses: "licences sim is 3"},
	} {
		t.Run(name, func(t *testing.T) {
			or := func(m table) table {
				if m == nil {
					return table{}
				}
				return m
			}
			s := limitedSite(or(tt.qos), or(tt.account), or(tt.user))
			if tt.change != nil {
				tt.change(s)
			}
			a := Ask{Job: trace.Job{User: "eva", Nodes: 1, Limit: 3600, Need: &trace.Need{CPUs: 16}}, Tasks: 1}
			if tt.ask != nil {
				tt.ask(&a)
			}
			v := look(t, s)
			if got := strings.Join(v.FindUnknowns(a), "; "); tt.doubts == "" != (got == "") || !strings.Contains(got, tt.doubts) {
				t.Errorf("doubts %q, want %q", got, tt.doubts)
			}
			waits, err := v.AskWaits(a)
			if tt.refuses != "" {
				if !errors.Is(err, ErrNoStart) || !strings.Contains(err.Error(), tt.refuses) {
					t.Fatalf("%v, want %q", err, tt.refuses)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := waits.SortSeconds().Quantile(1) / 3600; got != tt.hours {
				t.Errorf("waits up to %v h, want %v", got, tt.hours)
			}
		})
	}
}

// TestSharedReason: what holds another job back that shares its limits holds a new one back.
func TestSharedReason(t *testing.T) {
	s := limitedSite(table{}, table{}, table{})
	s["squeue"] = `{"jobs":[` + pending(5, "QOSMaxGRESPerUser", `,"account":"lab","qos":"fast"`) + `]}`
	v := look(t, s)
	for name, tt := range map[string]struct {
		user, qos string
		want      bool
	}{"same": {"eva", "fast", true}, "another user": {"bob", "fast", false}, "another QOS": {"eva", "normal", false}} {
		a := Ask{Job: trace.Job{User: tt.user, QOS: tt.qos, Nodes: 1, Limit: 3600}, Tasks: 1, Place: Place{}}
		if got := v.FindUnknowns(a); (len(got) > 0) != tt.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestSuccessorUnderLimit: the next job of a chain is under the limits of the running one,
// though two of three nodes are idle.
func TestSuccessorUnderLimit(t *testing.T) {
	for name, tt := range map[string]struct {
		qos   table
		hours float64
	}{"none": {table{}, 0}, "one job of each user": {table{"MaxJobsPU": "1"}, 4}} {
		s := limitedSite(tt.qos, table{}, table{})
		s["show licenses"] = "LicenseName=sim Total=4 Used=2 Free=2 Reserved=0 Remote=no\n"
		v, err := (&Client{Runner: s}).Look(t.Context(), noon, Sight{Own: func(id int64) bool { return id == 1 }})
		if err != nil {
			t.Fatal(err)
		}
		next, sim, err := v.Successor(trace.Job{Nodes: 1, Limit: 5 * 3600})
		if err != nil || next.Need == nil {
			t.Fatal(next, err)
		}
		wait, err := sim.WaitIn(sim.Using(1), next, simulator.Farthest)
		if got := float64(wait.Seconds) / 3600; err != nil || got != tt.hours {
			t.Errorf("%s: waits %v h, want %v: %v", name, got, tt.hours, err)
		}
	}
}

// TestSuccessorSize: the next job of a chain takes the nodes that are asked for, with what the
// running one has of them; a new one goes behind the jobs of its user, one in the queue has its
// place.
func TestSuccessorSize(t *testing.T) {
	const needs = `,"tres_req_str":"cpu=16,gres/gpu=3"`
	s := plainSite()
	s["squeue"] = `{"jobs":[` + strings.Replace(pending(5, "Priority", needs), `"priority":10`, `"priority":40`, 1) + "," + pending(6, "Priority", needs) + "," + strings.Replace(running(1, 1, "w1", 240, ""), "cpu=16", "cpu=16,gres/gpu=3", 1) + `]}`
	v, err := (&Client{Runner: s}).Look(t.Context(), noon, Sight{Own: func(id int64) bool { return id == 1 }})
	if err != nil {
		t.Fatal(err)
	}
	next, _, err := v.Successor(trace.Job{Nodes: 2, Limit: 3600})
	if err != nil || next.Nodes != 2 || next.User != "eva" || next.Need == nil || next.Need.GPUs != 3 {
		t.Errorf("%+v, need %+v: %v", next, next.Need, err)
	}
	if queued, _, err := v.Successor(trace.Job{ID: "5", Nodes: 2, Limit: 3600}); err != nil || queued.Priority != 40 || next.Priority > 10 {
		t.Errorf("priority %v of a new job, %v of one in the queue: %v", next.Priority, queued.Priority, err)
	}
}

// TestStrangers: a job that the accounting does not know is refused if that is enforced.
func TestStrangers(t *testing.T) {
	for name, tt := range map[string]struct {
		enforce string
		ask     func(a *Ask)
		refuses string
	}{
		"known":                    {"associations,limits,qos", func(*Ask) {}, ""},
		"QOS":                      {"associations,limits,qos", func(a *Ask) { a.QOS = "quick" }, "no QOS quick"},
		"account":                  {"limits", func(a *Ask) { a.Accounts = []string{"office"} }, "no account office"},
		"user":                     {"all", func(a *Ask) { a.User = "zoe" }, "no association of user zoe"},
		"account of others":        {"safe", func(a *Ask) { a.Accounts = []string{"dept"} }, "user eva with account dept"},
		"associations only":        {"associations", func(a *Ask) { a.User = "zoe" }, "no association of user zoe"},
		"known, associations only": {"associations", func(*Ask) {}, ""},
		"not enforced":             {"none", func(a *Ask) { a.User, a.QOS = "zoe", "quick" }, ""},
	} {
		s := limitedSite(table{}, table{}, table{})
		s["show config"] = strings.Replace(s["show config"], "accounting_storage/none", "accounting_storage/slurmdbd", 1)
		s["show config"] = strings.Replace(s["show config"], "associations,limits,qos", tt.enforce, 1)
		a := hours(1, 1)
		tt.ask(&a)
		_, err := look(t, s).AskWaits(a)
		if tt.refuses == "" && err != nil || tt.refuses != "" && (!errors.Is(err, ErrNoStart) || !strings.Contains(err.Error(), tt.refuses)) {
			t.Errorf("%s: %v, want %q", name, err, tt.refuses)
		}
	}
}

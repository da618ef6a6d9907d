package follow

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/foretime/foretime/allox-est/internal/estimate"
	"github.com/foretime/foretime/allox-est/internal/mark"
)

func TestVirtual(t *testing.T) {
	pat := os.Getenv("EV")
	if pat == "" {
		t.Skip()
	}
	paths, _ := filepath.Glob(pat)
	hintmode := os.Getenv("HINT") // "", "none", number
	for _, p := range paths {
		f, _ := os.Open(p)
		in := bufio.NewScanner(f)
		in.Buffer(nil, 1<<24)
		in.Scan()
		var head []any
		json.Unmarshal(in.Bytes(), &head)
		hint, end, hint2 := head[0].(float64), head[2].(float64), head[3].(float64)
		if hint2 > 0 && hintmode == "alt" { hint = hint2 }
		if hintmode == "none" { hint = 0 }
		r := mark.Reader{Units: hint}
		if s := head[1].(string); s != "" { r.Pattern = regexp.MustCompile(s) }
		type ev struct{ t float64; x string }
		var evs []ev
		for in.Scan() {
			var e []any
			json.Unmarshal(in.Bytes(), &e)
			evs = append(evs, ev{e[0].(float64), e[1].(string)})
		}
		f.Close()
		tr := Tracker{Job: estimate.Job{Epochs: int(hint)}}
		var sp mark.Splitter
		sp.All = r.Pattern != nil
		res := map[float64]string{}
		var last *Update
		first := -1.0
		i := 0
		why := os.Getenv("TRACE") != ""
		for now := 0.2; now < end+0.2; now += 0.2 {
			news := false
			for i < len(evs) && evs[i].t <= now {
				sp.Split([]byte(evs[i].x), func(l string) { news = true; r.Line(l, now) })
				i++
			}
			if news {
				m := r.Marks()
				u, up, err := tr.Look(m)
				if why { fmt.Printf("%5.1f %v %d marks up %v %+v\n", now, r.Describe(), len(m), up, u.Total) }
				if err != nil { fmt.Println(p, err) }
				if up && u.Total != nil { last = &u; if first < 0 { first = now / end } }
			}
			for _, s := range []float64{.1, .25, .5, .9} {
				if _, ok := res[s]; !ok && now >= s*end {
					res[s] = "-"
					if last != nil {
						e := last.Total.Value/end - 1
						h := "ok"
						if last.Refused != "" { h = "ref" } else if !last.Total.Contains(end) { h = "OUT" }
						if (e > .15 || e < -.15) { h += "!" }
						res[s] = fmt.Sprintf("%+.0f%%(%.0f)%s", 100*e, 100*last.Total.Width()/last.Total.Value, h)
					}
				}
			}
		}
		fmt.Printf("%-28s first %3.0f%%  10%% %-14s 25%% %-14s 50%% %-14s 90%% %-14s %s\n", strings.TrimPrefix(filepath.Base(p), "formats."), 100*first, res[.1], res[.25], res[.5], res[.9], r.Describe())
	}
	_ = strconv.Itoa
}

func TestTraceShape(t *testing.T) {
	name := os.Getenv("SHAPE")
	if name == "" { t.Skip() }
	var units int
	fmt.Sscan(os.Getenv("U"), &units)
	for _, s := range shapes {
		if s.name != name { continue }
		p := newPlayer(s.name)
		s.write(&p)
		end := p.events[len(p.events)-1].at
		r := mark.Reader{Units: float64(units)}
		tr := Tracker{Job: estimate.Job{Epochs: units}}
		var lines mark.Splitter
		next := 0
		for now := 0.2; now < end; now += 0.2 {
			for ; next < len(p.events) && p.events[next].at <= now; next++ {
				lines.Split([]byte(p.events[next].text), func(line string) { r.Line(line, now) })
			}
			m := r.Marks()
			u, up, _ := tr.Look(m)
			fmt.Printf("%5.1f/%.1f %s up %v total %v ref %v last %v\n", now, end, r.Describe(), up, u.Total, u.Refused, m[max(0, len(m)-6):])
		}
	}
}

func TestSeeds(t *testing.T) {
	if os.Getenv("SEEDS") == "" { t.Skip() }
	for _, units := range []bool{false, true} {
		var n, right, wrong, silent, inside, early [2]int
		for _, s := range shapes {
			for seed := range 5 {
				p := newPlayer(s.name)
				p.Rand = randSeed(seed)
				s.write(&p)
				u := 0
				if units { u = s.units }
				at, e, name := watch(t, p.events, u, wrapped[""])
				for i, v := range at {
					n[i]++
					if e { early[i]++ }
					if v.inside { inside[i]++ }
					switch {
					case v.silent: silent[i]++; if s.alone || units { fmt.Println("silent", s.name, units, i, name) }
					case v.off > .15 || v.off < -.15: wrong[i]++; fmt.Println("wrong", s.name, units, i, v.off, name)
					default: right[i]++
					}
				}
			}
		}
		fmt.Println("units", units, "n", n, "right", right, "wrong", wrong, "silent", silent, "inside", inside, "early", early)
	}
}

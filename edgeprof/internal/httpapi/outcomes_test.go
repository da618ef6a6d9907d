package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/placement"
	"github.com/foretime/foretime/shared/record"
)

// Measured times that clients post back widen the intervals of their node until
// these hold what they promise, and of no other; the next service knows it too.
func TestOutcomes(t *testing.T) {
	book := &record.Book{Path: filepath.Join(t.TempDir(), "record.jsonl")}
	with := func(s *Settings) { s.Record = book }
	r := newRig(t, with)
	candidates := func() map[string]placement.Candidate {
		var got placed
		if err := json.Unmarshal(r.ask(http.MethodPost, "/api/v1/placements", bytes.NewReader(lenet(t))).Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		all := map[string]placement.Candidate{}
		for _, c := range got.Candidates {
			all[c.Node] = c
		}
		return all
	}
	post := func(c placement.Candidate, measured float64) *httptest.ResponseRecorder {
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		body := fmt.Sprintf(`%s, "measured_execution_time": %g}`, text[:len(text)-1], measured)
		return r.ask(http.MethodPost, "/api/v1/outcomes", strings.NewReader(body), "Content-Type", "application/json")
	}
	before := candidates()
	slow := before["rpi-1"].Seconds.Value + 2*before["rpi-1"].Seconds.Width()
	var now standing
	for i := range 40 {
		c := candidates()["rpi-1"]
		w := post(c, slow)
		if err := json.Unmarshal(w.Body.Bytes(), &now); err != nil || w.Code != 200 || now.Outcomes != i+1 || now.Held != c.Seconds.Contains(slow) {
			t.Fatalf("outcome %d: %d %v %s", i, w.Code, err, w.Body)
		}
	}
	after := candidates()
	if c := after["rpi-1"]; !c.Seconds.Contains(slow) || c.Width != now.Factor || c.Seconds.Value != before["rpi-1"].Seconds.Value {
		t.Errorf("after 40 outcomes of %v: %+v", slow, c)
	}
	if after["rpi-2"].Seconds != before["rpi-2"].Seconds || after["rpi-2"].Width != 0 {
		t.Errorf("another node: %+v, before %+v", after["rpi-2"], before["rpi-2"])
	}
	if text := r.ask(http.MethodGet, "/metrics", nil).Body.String(); !strings.Contains(text, `edgeprof_outcomes_total{interval="above",node="rpi-1"}`) || !strings.Contains(text, "edgeprof_outcome_error_ratio_count 40") {
		t.Error("no metrics of outcomes")
	}
	r = newRig(t, with)
	if got := candidates()["rpi-1"]; got.Seconds != after["rpi-1"].Seconds {
		t.Errorf("after a restart %v, before %v", got.Seconds, after["rpi-1"].Seconds)
	}
	stranger := after["rpi-1"]
	stranger.Node = "rpi-9"
	refused(t, post(stranger, 1), 422, "parameter", `"rpi-9"`)
	open := candidates()["rpi-1"]
	for _, measured := range []float64{-1, 0, 1e300, 1e7} {
		refused(t, post(open, measured), 422, "parameter", "measured_execution_time")
	}
	invented := open
	invented.Seconds.High *= 2
	refused(t, post(invented, 1), 422, "parameter", "no open prediction")
	for range 2 { // this process answered the same twice, and no more
		if w := post(open, slow); w.Code != 200 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	refused(t, post(open, slow), 422, "parameter", "no open prediction")
	refused(t, r.ask(http.MethodPost, "/api/v1/outcomes", strings.NewReader(`{"node": 1}`), "Content-Type", "application/json"), 400, "syntax", "node")
	r = newRig(t, nil)
	refused(t, post(after["rpi-1"], 1), 503, "no-record", "--no-record")
}

package httpapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/foretime/foretime/edgeprof/internal/device"
)

// bare is what a service costs that does nothing: chi, and the request's JSON
// decoded and sent back.
func bare() http.Handler {
	r := chi.NewRouter()
	r.Post("/api/profiling", func(w http.ResponseWriter, r *http.Request) {
		var v map[string]any
		if err := json.NewDecoder(io.LimitReader(r.Body, 1<<16)).Decode(&v); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	})
	return r
}

// ten devices, as in a small cluster.
func ten() *source {
	s := &source{}
	for i := range 10 {
		s.devices = append(s.devices, device.Device{Node: fmt.Sprintf("rpi-%d", i), Class: "Computer", Model: "Raspberry Pi 4B", UUID: fmt.Sprint(i), Cores: 4, Load: device.Load{CPUPercent: float64(10 * i)}})
	}
	return s
}

// The handlers alone, without a network: what the service adds to a bare one.
func BenchmarkProfiling(b *testing.B) {
	r := newRig(b, func(s *Settings) {
		s.Devices = &device.CachedSource{Source: ten(), MaxAge: time.Second, Now: time.Now}
	})
	for name, h := range map[string]http.Handler{"handler=edgeprof": r.Handler(), "handler=bare": bare()} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				request := httptest.NewRequest(http.MethodPost, "/api/profiling", strings.NewReader(asked))
				request.Header.Set("Content-Type", "application/json")
				w := httptest.NewRecorder()
				h.ServeHTTP(w, request)
				if w.Code != http.StatusOK {
					b.Fatal(w.Body)
				}
			}
		})
	}
}

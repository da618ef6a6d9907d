package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/go-chi/httprate"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/prediction"
	"github.com/foretime/foretime/shared/access"
	"github.com/foretime/foretime/shared/record"
)

// LoadedModel is a model with the file that it was read from.
type LoadedModel struct {
	Model  prediction.Predictor
	SHA256 string // of its file, in hexadecimal
	Path   string // "" for the built-in model
}

// Settings of a service. Devices, Load and Now are needed; the rest has
// defaults.
type Settings struct {
	Devices *device.CachedSource
	// Load reads the model, at the start and at every [Service.Reload].
	Load func(context.Context) (*LoadedModel, error)
	Now  func() time.Time
	// Observe is called after every request, one call at a time for each; nil for nobody. It
	// must not block.
	Observe func(access.Request)
	// Directory is the directory of uploads that cannot be read as they come; ""
	// means the system's for such.
	Directory string
	// MaxRequestBytes bounds a JSON request; 0 means 64 KiB.
	MaxRequestBytes int64
	// MaxModelBytes bounds an uploaded model; 0 means 1 GiB.
	MaxModelBytes int64
	// MaxGraphBytes bounds what is kept of an uploaded model, as [onnx.ReadLimited]
	// counts it; 0 means 32 MiB. One at a time is judged, which takes up to five times
	// as much.
	MaxGraphBytes int64
	// MaxUploads bounds uploads at once; 0 means 4.
	MaxUploads int
	// UploadTimeout bounds the reading of one upload; 0 means 5 minutes.
	UploadTimeout time.Duration
	// Token returns for each request the bearer token that clients must send: "" or nil for
	// none.
	Token func() string
	// Record keeps predictions for outcomes that clients report; nil for none.
	Record *record.Book
	// Warn takes warnings of the record; nil for nobody.
	Warn func(error)
	// Version of the program, for the metrics.
	Version string
	// Rate is the number of requests per minute that a client's address may make; 0 for no
	// limit.
	Rate int
}

// Service answers requests.
type Service struct {
	Settings
	model    atomic.Pointer[LoadedModel]
	bound    atomic.Pointer[bound]
	uploads  chan struct{}
	judging  chan struct{} // holds the upload whose graph is being judged
	draining atomic.Bool
	reload   sync.Mutex
	learning sync.Mutex // of the record
	ledger   ledger
	widths   atomic.Pointer[map[string]float64]
	metrics  *metrics
	handler  http.Handler
}

// bound is a model bound to a reading of the devices.
type bound struct {
	model   *LoadedModel
	reading *device.Reading
	fleet   prediction.Fleet
}

// New loads the model and prepares the service. The error is Load's.
func New(s Settings) (*Service, error) {
	s.MaxRequestBytes = cmp.Or(s.MaxRequestBytes, 64<<10)
	s.MaxModelBytes = cmp.Or(s.MaxModelBytes, 1<<30)
	s.MaxGraphBytes = cmp.Or(s.MaxGraphBytes, 32<<20)
	s.UploadTimeout = cmp.Or(s.UploadTimeout, 5*time.Minute)
	if s.Token == nil {
		s.Token = func() string { return "" }
	}
	service := &Service{Settings: s, uploads: make(chan struct{}, cmp.Or(s.MaxUploads, 4)), judging: make(chan struct{}, 1)}
	service.metrics = newMetrics(service)
	if err := service.Reload(context.Background()); err != nil {
		return nil, err
	}
	service.factors()
	service.handler = service.routes()
	return service, nil
}

// Reload reads the model again and uses it from the next request on. While it
// cannot be read the old one stays, and the error says why.
func (s *Service) Reload(ctx context.Context) error {
	s.reload.Lock()
	defer s.reload.Unlock()
	loaded, err := s.Load(ctx)
	if err != nil {
		s.metrics.loads.WithLabelValues("failed").Inc()
		return err
	}
	s.metrics.loads.WithLabelValues("done").Inc()
	s.model.Store(loaded)
	return nil
}

// Drain makes /readyz say that no more requests should come.
func (s *Service) Drain() { s.draining.Store(true) }

// Handler answers every request.
func (s *Service) Handler() http.Handler { return s.handler }

// fleet returns the model bound to a fresh reading of the devices. The error is the
// source's.
func (s *Service) fleet(ctx context.Context) (*bound, error) {
	reading, err := s.Devices.Read(ctx)
	if err != nil {
		s.metrics.sourceErrors.Inc()
		return nil, &sourceError{err}
	}
	model := s.model.Load()
	if b := s.bound.Load(); b != nil && b.model == model && b.reading == reading {
		return b, nil
	}
	b := &bound{model, reading, model.Model.On(ctx, reading.Devices, reading.Excluded)}
	s.bound.Store(b)
	return b, nil
}

// routes of the service. Probes and the page need no token: a page asks for it.
func (s *Service) routes() http.Handler {
	r := chi.NewRouter()
	log := access.Log{Now: s.Now, Done: s.countRequest, Fail: func(w http.ResponseWriter, r *http.Request, err error) { refusal(err).write(w, r) }}
	inFlight := func(next http.Handler) http.Handler {
		return promhttp.InstrumentHandlerInFlight(s.metrics.inFlight, next)
	}
	r.Use(inFlight, log.Handler, middleware.GetHead)
	r.NotFound(func(w http.ResponseWriter, r *http.Request) {
		problem(http.StatusNotFound, "not-found", "see /openapi.json").write(w, r)
	})
	r.MethodNotAllowed(func(w http.ResponseWriter, r *http.Request) {
		problem(http.StatusMethodNotAllowed, "method", "see /openapi.json").write(w, r)
	})
	r.Get("/healthz", answering(s.getHealth))
	r.Get("/readyz", answering(s.getReady))
	r.Get("/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(openAPI)
	})
	page := pageHandler()
	r.Handle("/", page)
	r.Handle("/page/*", page)
	r.Group(func(r chi.Router) {
		if s.Rate > 0 {
			r.Use(httprate.LimitBy(s.Rate, time.Minute, peer, httprate.WithLimitHandler(func(w http.ResponseWriter, r *http.Request) {
				problem(http.StatusTooManyRequests, "rate", fmt.Sprintf("at most %d requests per minute", s.Rate)).write(w, r)
			})))
		}
		r.Use(access.Bearer(s.Token, func(w http.ResponseWriter, r *http.Request) {
			problem(http.StatusUnauthorized, "token", "this service needs a bearer token").write(w, r)
		}), understood)
		r.Method(http.MethodGet, "/metrics", promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}))
		r.Post("/api/profiling", answering(s.postProfiling))
		r.Get("/api/v1/devices", answering(s.getDevices))
		r.Get("/api/v1/model", answering(s.getModel))
		r.Post("/api/v1/models", answering(s.postModels))
		r.Post("/api/v1/outcomes", answering(s.postOutcomes))
		r.Post("/api/v1/placements", answering(s.postPlacements))
	})
	return r
}

// peer returns the address that a connection comes from; behind a proxy that is the
// proxy's, since headers can say anything.
func peer(r *http.Request) (string, error) {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	return httprate.CanonicalizeIP(host), nil
}

// metrics of a service.
type metrics struct {
	registry     *prometheus.Registry
	requests     *prometheus.CounterVec
	seconds      *prometheus.HistogramVec
	loads        *prometheus.CounterVec
	sourceErrors prometheus.Counter
	outcomes     *prometheus.CounterVec
	errors       prometheus.Histogram
	inFlight     prometheus.Gauge
}

func newMetrics(s *Service) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "edgeprof_http_requests_total", Help: "Requests by route and status."}, []string{"route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "edgeprof_http_request_seconds", Help: "Response time by route.", Buckets: prometheus.ExponentialBuckets(1e-4, 4, 9),
		}, []string{"route"}),
		loads:        prometheus.NewCounterVec(prometheus.CounterOpts{Name: "edgeprof_model_loads_total", Help: "Loads of the model, by result."}, []string{"result"}),
		sourceErrors: prometheus.NewCounter(prometheus.CounterOpts{Name: "edgeprof_source_errors_total", Help: "Failures to list the devices."}),
		inFlight:     prometheus.NewGauge(prometheus.GaugeOpts{Name: "edgeprof_http_requests_in_flight", Help: "Requests in flight."}),
	}
	m.outcomes = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "edgeprof_outcomes_total", Help: "Measured times reported by clients, by position relative to the interval."}, []string{"node", "interval"})
	m.errors = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "edgeprof_outcome_error_ratio", Help: "Relative error of predicted times.", Buckets: []float64{0.02, 0.05, 0.1, 0.25, 0.5, 1, 2},
	})
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "edgeprof_build_info", Help: "1, with the version of the program.", ConstLabels: prometheus.Labels{"version": s.Version},
	})
	build.Set(1)
	m.registry.MustRegister(build, m.requests, m.seconds, m.loads, m.sourceErrors, m.inFlight, m.outcomes, m.errors, &modelInfo{s},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// modelInfo reports which model is in use, and the devices of the last reading.
type modelInfo struct{ service *Service }

var (
	modelInfoDesc = prometheus.NewDesc("edgeprof_model_info", "1 for the model in use.", []string{"sha256", "kind"}, nil)
	devicesDesc   = prometheus.NewDesc("edgeprof_devices", "Devices at the last reading, and those that it left out.", []string{"state"}, nil)
	ageDesc       = prometheus.NewDesc("edgeprof_device_reading_age_seconds", "Age of the last reading of a device's load.", []string{"node"}, nil)
)

// Describe implements prometheus.Collector.
func (m *modelInfo) Describe(to chan<- *prometheus.Desc) {
	to <- modelInfoDesc
	to <- devicesDesc
	to <- ageDesc
}

// Collect implements prometheus.Collector.
func (m *modelInfo) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	if l := m.service.model.Load(); l != nil {
		gauge(modelInfoDesc, 1, l.SHA256, l.Model.Facts().Kind)
	}
	b := m.service.bound.Load()
	if b == nil {
		return
	}
	gauge(devicesDesc, float64(len(b.reading.Devices)), "ranked")
	gauge(devicesDesc, float64(len(b.reading.Excluded)), "excluded")
	age := m.service.Now().Sub(b.reading.Time).Seconds()
	for _, d := range b.reading.Devices {
		gauge(ageDesc, age, d.Node)
	}
}

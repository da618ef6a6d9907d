package cli

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/foretime/foretime/mirage/internal/forecast"
	"github.com/foretime/foretime/mirage/internal/slurmview"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/access"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/cli/requests"
	"github.com/foretime/foretime/shared/uncertainty"
)

//go:embed serve.html
var servePage string

// serve answers the questions of "when" over HTTP.
type serve struct {
	env     *cli.Env
	token   func() string
	metrics *serveMetrics

	asking atomic.Int32 // requests that wait for an answer
	mutex  sync.Mutex   // of the source, which answers one question at a time
	source source
}

// source answers questions about the current queue.
type source interface {
	answer(context.Context, forecast.Question) (*forecast.Answer, error)
}

func newServeCommand(env *cli.Env, record *cli.Record) *cobra.Command {
	s := &serve{env: env, metrics: newServeMetrics()}
	w := when{in: newSettings(), record: record}
	var at cli.Listener
	var tokenFile string
	var every time.Duration
	c := &cobra.Command{
		Use:   "serve [LOG]",
		Short: "Predict over HTTP when a job would start, with a web page at /",
		Long: `Predict over HTTP when a job would start if it were submitted now, as the when
command does: GET /when?nodes=4&limit=12h, with user, partition and by (a time) if
known. sbatch (its options) describes a job as a batch script does, job is the id of one
that waits in the queue, and curve=1 adds the distribution of the start, as --curve does.
There is a web page at / and a health check at /healthz. /metrics exports predicted waits,
and the errors for jobs that have started, to Prometheus.

With a log, "now" is the end of the log. It is read again when it changes, so a cron
job that rewrites it with sacct keeps the answers current.

Without a log, the live Slurm is queried, at most once per --refresh. cpus, gpus,
memory (MB) and exclusive=true then give the job's resources on its nodes. Predicted
and actual starts of new jobs are recorded and correct the intervals. If Slurm does
not answer, the reply is status 502 with the cause.`,
		Example: `  mirage serve sacct.log --set log.zone=UTC --address 127.0.0.1:7002
  mirage serve --refresh 10s --token-file token`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if s.token, err = cli.Token(env, tokenFile, "MIRAGE_TOKEN"); err != nil {
				return err
			}
			at.Guarded = s.token() != ""
			s.metrics.exportBuild(cmd.Root().Version)
			if s.source, err = open(cmd.Context(), env, &w, args, every, s.metrics); err != nil {
				return err
			}
			return at.Serve(cmd.Context(), env, cli.BoundServer(env, s.handler()))
		},
	}
	w.addFlags(c)
	at.Flags(c, "127.0.0.1:7002")
	env.LogFormat(c)
	c.Flags().StringVar(&tokenFile, "token-file", "", "file with the bearer token that clients must send (default: $MIRAGE_TOKEN, or no token)")
	c.Flags().DurationVar(&every, "refresh", 5*time.Second, "maximum age of the snapshot of a live Slurm")
	cli.First(c, "address", "config", "refresh", "level", "token-file")
	return c
}

// open returns a source for the log, or for the live Slurm, after a first read.
func open(ctx context.Context, env *cli.Env, w *when, args []string, every time.Duration, m *serveMetrics) (source, error) {
	if err := checkLevel(w.level); err != nil {
		return nil, err
	}
	if len(args) == 0 {
		for _, name := range []string{"config", "set"} {
			if w.flags.Changed(name) {
				return nil, cli.Usagef("--%s: settings describe the cluster of a log; a live Slurm describes its own", name)
			}
		}
		s := &watched{w: w, every: every, metrics: m}
		_, err := s.fresh(ctx)
		if errors.Is(err, slurmview.ErrCommand) {
			err = fmt.Errorf("no log given, and Slurm does not answer: %w", err)
		}
		return s, err
	}
	s := &logged{env: env}
	s.files = &cli.Reread[*forecast.Log]{Paths: args, Read: func() (*forecast.Log, error) { return s.read(ctx, w, args[0]) }}
	if m != nil {
		info, err := os.Stat(args[0])
		if args[0] == "-" || err == nil && !info.Mode().IsRegular() {
			return nil, cli.Usagef("%s: it cannot be read again when it changes: want a regular file", args[0])
		}
		m.exportAge(func() float64 { return float64(time.Now().Unix() - s.seen.Load()) })
	}
	_, err := s.files.Current(env)
	return s, err
}

// page has fields for the resources of a job if its argument, a live Slurm, is true.
var page = template.Must(template.New("page").Parse(servePage))

func (s *serve) handler() http.Handler {
	log := access.Log{
		Now: time.Now,
		Fail: func(w http.ResponseWriter, _ *http.Request, _ error) {
			refuse(w, http.StatusInternalServerError, "internal error; the log of the service has its cause")
		},
		Done: func(r access.Request) {
			s.metrics.request(r)
			requests.Log(s.env, r, logrus.InfoLevel)
		},
	}
	r := chi.NewRouter()
	r.Use(log.Handler, middleware.GetHead)
	r.NotFound(func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, "nothing is here; there are /, /healthz, /metrics and /when")
	})
	r.MethodNotAllowed(func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusMethodNotAllowed, "only GET is answered")
	})
	r.Get("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'self'; script-src 'unsafe-inline'; style-src 'unsafe-inline'")
		_, isWatched := s.source.(*watched)
		_ = page.Execute(w, isWatched) // the client may have gone
	})
	r.Get("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	unauthorized := func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusUnauthorized, "missing or wrong bearer token")
	}
	r.Group(func(r chi.Router) {
		r.Use(access.Bearer(s.token, unauthorized))
		r.Get("/when", s.when)
		r.Method(http.MethodGet, "/metrics", promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}))
	})
	return r
}

// when answers a question of the URL.
func (s *serve) when(w http.ResponseWriter, r *http.Request) {
	a, err := s.answer(r)
	var wrong *cli.UsageError
	switch {
	case err == nil:
		reply(w, http.StatusOK, a)
	case errors.Is(err, errBusy):
		w.Header().Set("Retry-After", strconv.Itoa(retrySeconds))
		refuse(w, http.StatusServiceUnavailable, err.Error())
	case r.Context().Err() != nil:
		refuse(w, statusClientLeft, "the client has left")
	case errors.As(err, &wrong):
		refuse(w, http.StatusBadRequest, err.Error())
	default:
		access.SetError(w, err)
		status := http.StatusInternalServerError
		if errors.Is(err, slurmview.ErrNoStart) {
			status = http.StatusConflict
		}
		if errors.Is(err, slurmview.ErrCommand) || errors.Is(err, slurmview.ErrAnswer) {
			status = http.StatusBadGateway
		}
		refuse(w, status, err.Error())
	}
}

func refuse(w http.ResponseWriter, status int, why string) {
	reply(w, status, map[string]string{"error": why})
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have gone
}

func (s *serve) answer(r *http.Request) (*forecast.Answer, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, cli.Usagef("query: %w", err)
	}
	q, err := questionOf(query)
	if err != nil {
		return nil, err
	}
	defer s.asking.Add(-1)
	if s.asking.Add(1) > mostAsking {
		return nil, errBusy
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if err := r.Context().Err(); err != nil { // it has left meanwhile
		return nil, err
	}
	a, err := s.source.answer(r.Context(), q)
	if err == nil {
		s.metrics.exportWait(a)
	}
	return a, err
}

// mostAsking is the largest number of requests that may wait for an answer; others are asked
// to come back after retrySeconds.
const (
	mostAsking   = 64
	retrySeconds = 5
)

// statusClientLeft is the status in the access log of a request whose client has left.
const statusClientLeft = 499

var errBusy = fmt.Errorf("%d requests are waiting for an answer", mostAsking)

// questionOf parses the query: the flags of "when" without the prefix job-.
func questionOf(v url.Values) (forecast.Question, error) {
	q := anyQuestion()
	var known pflag.FlagSet
	questionFlags(&q, &known, "")
	known.BoolVar(&q.Exclusive, "exclusive", false, "the job shares its nodes with no other job")
	known.IntVar(&q.CPUs, "cpus", 0, "CPUs of the job on all its nodes")
	known.Int64Var(&q.MemoryMB, "memory", 0, "memory of the job in MB on all its nodes")
	known.StringVar(&q.Queued, "job", "", "a job that waits in the queue")
	known.Float64Var(&q.Overlap, "curve", 0, "cost of an hour of overlap in hours of interruption; asks for the distribution of the start")
	batch := known.String("sbatch", "", "options of sbatch, which describe the job")
	for _, name := range slices.Sorted(maps.Keys(v)) {
		f, text := known.Lookup(name), v.Get(name)
		if f == nil {
			var names []string
			known.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
			return q, cli.Usagef("unknown parameter %q, want one of %s", name, strings.Join(names, ", "))
		}
		if text == "" {
			continue
		}
		if err := f.Value.Set(text); err != nil {
			return q, cli.Usagef("%s: %s", name, cli.ErrorText(err))
		}
	}
	options, err := slurmview.Script("#SBATCH " + strings.ReplaceAll(*batch, "\n", " "))
	if err != nil {
		return q, cli.Usagef("sbatch: %w", err)
	}
	return q, describe(&q, options, time.Now())
}

// mostShapes limits the shapes of jobs whose predicted waits are exported: the latest.
const mostShapes = 50

// serveMetrics counts the requests of a server and exports its predictions and, once jobs
// have started, their errors.
type serveMetrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	waits    *prometheus.GaugeVec
	errors   prometheus.Histogram
	outcomes *prometheus.CounterVec

	mutex  sync.Mutex
	shapes [][]string // labels of waits, the latest last
}

func newServeMetrics() *serveMetrics {
	m := &serveMetrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "mirage_http_requests_total", Help: "Requests by path and status."}, []string{"path", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "mirage_http_request_seconds", Help: "Response time by path.", Buckets: prometheus.ExponentialBuckets(1e-3, 4, 8),
		}, []string{"path"}),
		waits: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "mirage_predicted_wait_seconds", Help: "Predicted wait of the shapes asked for last: the value and the ends of its interval; +Inf is no upper end.",
		}, []string{"partition", "nodes", "limit", "bound"}),
		errors: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "mirage_start_error_seconds", Help: "Actual wait minus predicted wait of jobs that have started.",
			Buckets: []float64{-86400, -14400, -3600, -600, -60, 0, 60, 600, 3600, 14400, 86400},
		}),
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "mirage_start_outcomes_total", Help: "Jobs that have started, by the position of their wait relative to the interval."}, []string{"interval"}),
	}
	m.registry.MustRegister(m.requests, m.seconds, m.waits, m.errors, m.outcomes, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// exportBuild exports the version of the program.
func (m *serveMetrics) exportBuild(version string) {
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "mirage_build_info", Help: "1, with the version of the program.", ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	m.registry.MustRegister(build)
}

// exportAge exports the time since the log was read, in seconds.
func (m *serveMetrics) exportAge(seconds func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "mirage_log_age_seconds", Help: "Time since the log that answers come from was read."}, seconds))
}

// request counts a request.
func (m *serveMetrics) request(r access.Request) {
	m.requests.WithLabelValues(r.Route, strconv.Itoa(r.Status)).Inc()
	m.seconds.WithLabelValues(r.Route).Observe(r.Took.Seconds())
}

// exportWait exports the predicted wait of an answer.
func (m *serveMetrics) exportWait(a *forecast.Answer) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	labels := []string{a.Job.Partition, strconv.Itoa(a.Job.Nodes), trace.Span(a.Job.Limit)}
	if i := slices.IndexFunc(m.shapes, func(s []string) bool { return slices.Equal(s, labels) }); i >= 0 {
		m.shapes = slices.Delete(m.shapes, i, i+1)
	}
	if m.shapes = append(m.shapes, labels); len(m.shapes) > mostShapes {
		oldest := m.shapes[0]
		m.waits.DeletePartialMatch(prometheus.Labels{"partition": oldest[0], "nodes": oldest[1], "limit": oldest[2]})
		m.shapes = m.shapes[1:]
	}
	for bound, hours := range map[string]float64{"low": a.Wait.Low, "value": a.Wait.Value, "high": a.Wait.High} {
		m.waits.WithLabelValues(append(slices.Clip(labels), bound)...).Set(3600 * hours)
	}
}

// outcome exports the actual wait of a job, in seconds, next to the predicted one.
func (m *serveMetrics) outcome(p uncertainty.Prediction, seconds float64) {
	position := "inside"
	switch {
	case seconds < p.Low:
		position = "below"
	case seconds > p.High:
		position = "above"
	}
	m.outcomes.WithLabelValues(position).Inc()
	m.errors.Observe(seconds - p.Value)
}

package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/httpapi"
	"github.com/foretime/foretime/edgeprof/internal/prediction"
	"github.com/foretime/foretime/shared/access"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/cli/requests"
	"github.com/foretime/foretime/shared/crash"
)

// serving holds the flags of serve.
type serving struct {
	at        cli.Listener
	from      sourcing
	model     string
	on        running // of which the provider and the threads are set
	tokenFile string
	noAccess  bool // log only requests that failed
	with      serveSettings
	settings  httpapi.Settings
	read      atomic.Pointer[prediction.Stamp] // the model file's when it was last read
}

// serveSettings holds the settings of the service.
type serveSettings struct {
	sourceSettings
	Refresh span `json:"refresh" help:"how long the devices' data is reused"`
	Watch   span `json:"watch" help:"how often the model's file is checked for changes; 0 is never"`
	// BasePath is for a proxy that passes its own path on.
	BasePath string `json:"base-path" help:"path that a proxy puts before those of the service, such as /node/n1/7001"`
	Limits   struct {
		Rate       int   `json:"rate" help:"requests per minute and client (default: no limit)"`
		ModelBytes int64 `json:"model-bytes" help:"largest uploaded model, in bytes"`
		GraphBytes int64 `json:"graph-bytes" help:"largest graph of an uploaded model without its weights, in bytes; the one that is being judged needs five times as much memory"`
		Uploads    int   `json:"uploads" help:"concurrent uploads"`
		UploadTime span  `json:"upload-time" help:"longest duration of an upload"`
	} `json:"limits"`
}

// memoryTarget is the number of bytes from which memory is collected as often as needed.
const memoryTarget = 160 << 20

// newServeCommand returns serve, which answers profiling requests over HTTP.
func newServeCommand(env *cli.Env, record *cli.Record) *cobra.Command {
	s := &serving{from: newSourcing(env.Root)}
	s.with = serveSettings{sourceSettings: s.from.settings, Refresh: span(time.Second), Watch: span(2 * time.Second)}
	l := &s.with.Limits
	l.ModelBytes = 1 << 30
	l.GraphBytes = 32 << 20
	l.Uploads = 4
	l.UploadTime = span(5 * time.Minute)
	settings := cli.NewSettings(&s.with)
	c := &cobra.Command{
		Use:     "serve",
		Example: "  edgeprof serve --source file:boards.json",
		Short:   "Answer profiling requests over HTTP, with a web page at /",
		Long: `Answer profiling requests over HTTP, with a web page at / and the API's
description at /openapi.json. SIGHUP or a change of the file reloads the model.
SIGTERM and Ctrl-C end the service after the open requests are answered.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := settings.Load(); err != nil {
				return err
			}
			if err := s.prepare(env, record); err != nil {
				return err
			}
			s.settings.Version = cmd.Root().Version
			service, err := httpapi.New(s.settings)
			if err != nil {
				return err
			}
			debug.FreeOSMemory() // return the memory that reading the model took
			if os.Getenv("GOGC") == "" {
				debug.SetGCPercent(400) // the heap is a few MB: collect less often, for about 20 MB more
			}
			if os.Getenv("GOMEMLIMIT") == "" {
				debug.SetMemoryLimit(memoryTarget)
			}
			ctx, cancel := context.WithCancel(cmd.Context())
			defer cancel()
			hangup := cli.Signals(env, syscall.SIGHUP)
			reloading := make(chan struct{})
			crash.Go(func() {
				defer close(reloading)
				s.reload(ctx, env, service, hangup)
			})
			s.at.Drained = service.Drain
			err = s.at.Serve(cmd.Context(), env, cli.BoundServer(env, http.StripPrefix(strings.TrimSuffix(s.with.BasePath, "/"), service.Handler())))
			cancel()
			<-reloading
			return err
		},
	}
	s.at.Flags(c, "127.0.0.1:7001")
	env.LogFormat(c)
	s.from.flags(c, "", " (default: prometheus if its address is given, else local)")
	f := c.Flags()
	f.StringVar(&s.model, "model", "", "model file of train or XGBoost, or rates of calibrate (default: the rates of calibrate, or the built-in ones)")
	s.on.providerFlag(c)
	threadsFlag(c, &s.on.threads)
	f.StringVar(&s.tokenFile, "token-file", "", "file with the bearer token that clients must send (default: $EDGEPROF_TOKEN, or none)")
	f.BoolVar(&s.noAccess, "no-access-log", false, "log only requests that failed with a server error")
	settings.Flags(c)
	cli.First(c, "address", "source", "prometheus", "model", "token-file")
	return c
}

// prepare turns flags and environment into settings.
func (s *serving) prepare(env *cli.Env, record *cli.Record) error {
	s.from.settings = s.with.sourceSettings
	source, err := s.from.devices()
	if err != nil {
		return err
	}
	if listed, ok := source.(device.File); ok {
		_, _, err = listed.Devices(context.Background())
	}
	if err = cmp.Or(s.on.checkProvider(), err); err != nil {
		return err
	}
	l := s.with.Limits
	if s.on.threads < 0 {
		return cli.Usagef("--threads %d: want 0 or more", s.on.threads)
	}
	if s.with.Refresh < 0 || s.with.Watch < 0 || l.Rate < 0 || l.ModelBytes < 1 || l.GraphBytes < 1 || l.Uploads < 1 {
		return cli.Usagef("settings refresh, watch and limits: want values of 0 or more, and 1 or more for limits.model-bytes, limits.graph-bytes and limits.uploads")
	}
	s.settings.Rate = l.Rate
	s.settings.MaxModelBytes = l.ModelBytes
	s.settings.MaxGraphBytes = l.GraphBytes
	s.settings.MaxUploads = l.Uploads
	s.settings.UploadTimeout = time.Duration(l.UploadTime)
	if s.settings.Token, err = cli.Token(env, s.tokenFile, "EDGEPROF_TOKEN"); err != nil {
		return err
	}
	s.at.Guarded = s.settings.Token() != ""
	s.settings.Devices = &device.CachedSource{Source: source, MaxAge: time.Duration(s.with.Refresh), Timeout: s.from.prometheus.Timeout + time.Second, Now: time.Now}
	s.settings.Now = time.Now
	s.settings.Load = s.load
	record.Check()
	s.settings.Record = record.Book()
	s.settings.Warn = func(err error) { env.Log.Warnf("record of predictions: %v", err) }
	level := logrus.InfoLevel
	if s.noAccess {
		level = logrus.DebugLevel
	}
	s.settings.Observe = func(r access.Request) { requests.Log(env, r, level) }
	return nil
}

// load reads the model from its file, or returns the built-in one.
func (s *serving) load(ctx context.Context) (*httpapi.LoadedModel, error) {
	if path, err := calibrationPath(s.model, s.on.provider); err == nil {
		now := prediction.StampOf(path) // before the file is read, to notice a change while reading
		s.read.Store(&now)
	}
	rates := newCatalog(s.on.provider)
	path, data, err := rates.Content(s.model)
	if err != nil {
		return nil, err
	}
	m, err := prediction.Read(ctx, rates, s.model, data)
	if err != nil {
		return nil, err
	}
	if rates, ok := m.(*prediction.Calibrated); ok && s.on.threads > 0 {
		rates = rates.WithThreads(s.on.threads)
		m = rates
		if err := rates.Fit(ctx); err != nil {
			return nil, err
		}
	}
	return &httpapi.LoadedModel{Model: m, SHA256: fmt.Sprintf("%x", sha256.Sum256(data)), Path: path}, nil
}

// reload reads the model again on SIGHUP and when its file changes.
func (s *serving) reload(ctx context.Context, env *cli.Env, service *httpapi.Service, hangup <-chan os.Signal) {
	path, err := calibrationPath(s.model, s.on.provider)
	var look <-chan time.Time
	if s.with.Watch > 0 && err == nil {
		ticker := time.NewTicker(time.Duration(s.with.Watch))
		defer ticker.Stop()
		look = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
		case <-look:
			if prediction.StampOf(path) == *s.read.Load() {
				continue
			}
		}
		if err := service.Reload(ctx); err != nil {
			env.Log.Warnf("keeping the old model: %v", err)
			continue
		}
		env.Log.Info("reloaded the model")
	}
}

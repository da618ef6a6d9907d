package cli

import (
	"context"
	"crypto/subtle"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/foretime/foretime/mirage/internal/slurm"
	"github.com/foretime/foretime/shared/cli"
)

//go:embed serve.html
var servePage string

// serve answers when over HTTP.
type serve struct {
	env   *cli.Env
	token func() string

	mutex  sync.Mutex // of the source, which answers one at a time
	source source
}

// source answers questions of a queue as it is at the moment.
type source interface {
	ask(context.Context, question) (*answered, error)
}

func newServeCommand(env *cli.Env, record *cli.Record) *cobra.Command {
	s := &serve{env: env}
	w := when{in: newSettings(), record: record}
	var at cli.Listener
	var tokenFile string
	var every time.Duration
	c := &cobra.Command{
		Use:   "serve [LOG [QUEUE]]",
		Short: "answer over HTTP when a job would start, with a page at /",
		Long: `Answer over HTTP when a job of a shape would start if it were submitted now, as
the when command does: GET /when?nodes=4&limit=12h, and where known user,
partition and by, a time. There is a page at /, and /healthz.

With a log now is its end; it is read again when its file, or that of its queue, has
changed, so that a job that writes sacct's answer there every few minutes keeps it
fresh. Without one a real Slurm is asked, at most once in --refresh, and of jobs that have come
since it keeps when they would start and when they did, by which its intervals are
corrected;
cpus, gpus, memory (MB) and exclusive=true say what the job takes of its nodes.
What Slurm does not answer is an error of status 502 with its cause.`,
		Example: `  mirage serve sacct.log --set log.zone=UTC --addr 127.0.0.1:7002
  mirage serve --refresh 10s --token-file token`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if s.token, err = cli.Token(env, tokenFile, "MIRAGE_TOKEN"); err != nil {
				return err
			}
			at.Guarded = s.token() != ""
			if s.source, err = open(cmd.Context(), env, &w, args, every); err != nil {
				return err
			}
			return at.Serve(cmd.Context(), env, cli.Bounded(env, s.handler()))
		},
	}
	w.flags(c)
	at.Flags(c, "127.0.0.1:7002")
	c.Flags().StringVar(&tokenFile, "token-file", "", "file with the bearer token that clients must send (default: MIRAGE_TOKEN of the environment, or none)")
	c.Flags().DurationVar(&every, "refresh", 5*time.Second, "how old the view of a real Slurm may be")
	cli.First(c, "addr", "config", "refresh", "level", "token-file")
	return c
}

// open takes a first look at the log that is named, or at a real Slurm.
func open(ctx context.Context, env *cli.Env, w *when, args []string, every time.Duration) (source, error) {
	if len(args) == 0 {
		s := &watched{env: env, w: w, every: every}
		_, err := s.fresh(ctx)
		if errors.Is(err, slurm.ErrCommand) {
			err = fmt.Errorf("no log is named, so that a Slurm is asked: %w", err)
		}
		return s, err
	}
	s := &logged{env, &cli.Reread[*known]{Paths: args, Read: func() (*known, error) { return w.read(ctx, env, args) }}}
	_, err := s.files.Current(env)
	return s, err
}

// page shows what a job takes of its nodes where a real Slurm is asked.
var page = template.Must(template.New("page").Parse(servePage))

func (s *serve) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'self'; script-src 'unsafe-inline'; style-src 'unsafe-inline'")
		_, isWatched := s.source.(*watched)
		_ = page.Execute(w, isWatched) // the client may have gone
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /when", s.when)
	return mux
}

// when answers a question of the URL.
func (s *serve) when(w http.ResponseWriter, r *http.Request) {
	given, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if token := s.token(); token != "" && subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1 {
		w.Header().Set("WWW-Authenticate", "Bearer")
		reply(w, http.StatusUnauthorized, map[string]string{"error": "a bearer token is needed"})
		return
	}
	a, err := s.ask(r)
	if err == nil {
		reply(w, http.StatusOK, a)
		return
	}
	status := http.StatusInternalServerError
	var wrong *cli.UsageError
	switch {
	case errors.As(err, &wrong):
		status = http.StatusBadRequest
	case errors.Is(err, slurm.ErrCommand) || errors.Is(err, slurm.ErrAnswer):
		status = http.StatusBadGateway
		fallthrough
	default:
		s.env.Log.Warn(err)
	}
	reply(w, status, map[string]string{"error": err.Error()})
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have gone
}

func (s *serve) ask(r *http.Request) (*answered, error) {
	q, err := questionOf(r.URL.Query())
	if err != nil {
		return nil, err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.source.ask(r.Context(), q)
}

// questionOf reads what the flags of when are called, without job- before it.
func questionOf(v url.Values) (question, error) {
	q := anyQuestion()
	var known pflag.FlagSet
	q.flags(&known, "")
	for _, name := range slices.Sorted(maps.Keys(v)) {
		f, text := known.Lookup(name), v.Get(name)
		if f == nil {
			var names []string
			known.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
			return q, cli.Usagef("%s is none of %s", name, strings.Join(names, ", "))
		}
		if text == "" {
			continue
		}
		err := f.Value.Set(text)
		if wrong := new(strconv.NumError); errors.As(err, &wrong) {
			err = fmt.Errorf("%q: %w", text, wrong.Err)
		}
		if err != nil {
			return q, cli.Usagef("%s: %w", name, err)
		}
	}
	return q, nil
}

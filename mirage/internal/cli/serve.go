package cli

import (
	"context"
	"crypto/subtle"
	_ "embed"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/cli"
)

//go:embed serve.html
var servePage []byte

// serve answers when over HTTP.
type serve struct {
	env   *cli.Env
	w     when
	log   string // file
	token string

	mutex    sync.Mutex // of what follows
	known    *known
	modified time.Time
	size     int64
}

func newServeCommand(env *cli.Env) *cobra.Command {
	s := &serve{env: env}
	var at cli.Listener
	var tokenFile string
	c := &cobra.Command{
		Use:   "serve FILE",
		Short: "answer over HTTP when a job would start, with a page at /",
		Long: `Answer over HTTP when a job of a shape would start if it were submitted at the
end of a log, as the when command does: GET /when?nodes=4&limit=12h, and where
known user, partition and by, a time. The log is read again when its file has
changed, so that a job that writes sacct's answer there every few minutes keeps
it fresh. There is a page at /, and /healthz.`,
		Example: "  mirage serve sacct.log --zone UTC --addr 127.0.0.1:7002",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if s.token, err = cli.Token(tokenFile, "MIRAGE_TOKEN"); err != nil {
				return err
			}
			s.log = args[0]
			if _, err := s.fresh(cmd.Context()); err != nil {
				return err
			}
			return at.Serve(cmd.Context(), env, cli.Bounded(env, s.handler()))
		},
	}
	s.w.flags(c)
	at.Flags(c, "127.0.0.1:7002")
	c.Flags().StringVar(&tokenFile, "token-file", "", "file with the bearer token that clients must send (default: MIRAGE_TOKEN of the environment, or none)")
	return c
}

func (s *serve) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'self'; script-src 'unsafe-inline'; style-src 'unsafe-inline'")
		_, _ = w.Write(servePage)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /when", s.when)
	return mux
}

// when answers a question of the URL.
func (s *serve) when(w http.ResponseWriter, r *http.Request) {
	given, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if s.token != "" && subtle.ConstantTimeCompare([]byte(given), []byte(s.token)) != 1 {
		w.Header().Set("WWW-Authenticate", "Bearer")
		reply(w, http.StatusUnauthorized, map[string]string{"error": "a bearer token is needed"})
		return
	}
	a, err := s.ask(r)
	var wrong *cli.UsageError
	switch {
	case errors.As(err, &wrong):
		reply(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
	case err != nil:
		s.env.Log.Warn(err)
		reply(w, http.StatusInternalServerError, map[string]string{"error": err.Error()})
	default:
		reply(w, http.StatusOK, a)
	}
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have gone
}

func (s *serve) ask(r *http.Request) (*answered, error) {
	q, err := questionOf(r)
	if err != nil {
		return nil, err
	}
	s.mutex.Lock() // a forecaster answers one at a time
	defer s.mutex.Unlock()
	k, err := s.fresh(r.Context())
	if err != nil {
		return nil, err
	}
	return k.ask(q)
}

// questionOf reads nodes (1), limit (24h), partition, user and by.
func questionOf(r *http.Request) (q question, err error) {
	v := r.URL.Query()
	q = question{nodes: 1, limit: 86400, partition: v.Get("partition"), user: v.Get("user"), by: v.Get("by")}
	if text := v.Get("nodes"); text != "" {
		if q.nodes, err = strconv.Atoi(text); err != nil {
			return q, cli.Usagef("nodes: %q is not a number", text)
		}
	}
	if text := v.Get("limit"); text != "" {
		q.limit, err = seconds("limit", text)
	}
	return q, err
}

// fresh is what the log tells, read again if its file has changed. A file that
// cannot be read leaves what was known.
func (s *serve) fresh(ctx context.Context) (*known, error) {
	info, err := os.Stat(s.log)
	if err == nil && s.known != nil && info.ModTime().Equal(s.modified) && info.Size() == s.size {
		return s.known, nil
	}
	var k *known
	if err == nil {
		k, err = s.read(ctx)
	}
	if err != nil && s.known == nil {
		return nil, err
	} else if err != nil {
		s.env.Log.Warn(err)
		return s.known, nil
	}
	s.known, s.modified, s.size = k, info.ModTime(), info.Size()
	return k, nil
}

func (s *serve) read(ctx context.Context) (*known, error) {
	t, err := s.w.in.open(s.env, s.log)
	if err != nil {
		return nil, err
	}
	return s.w.learn(ctx, t)
}

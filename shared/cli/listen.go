package cli

import (
	"cmp"
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/crash"
	"github.com/foretime/foretime/shared/file"
)

// Listener holds the address, TLS files and shutdown settings of a server.
type Listener struct {
	addr      string
	file      string        // to write the address to once it listens; "" for none
	cert, key string        // TLS files; "" for none
	drain     time.Duration // limit for requests under way at shutdown

	// Drained is called when shutdown begins, before the server drains; may be nil.
	Drained func()
	// Guarded says that clients must send a token. Without a token, a server that
	// other machines can reach logs a warning.
	Guarded bool
}

// Flags adds the listener's flags to c; addr is the default address.
func (l *Listener) Flags(c *cobra.Command, addr string) {
	c.Flags().StringVar(&l.addr, "address", addr, "address to listen on")
	c.Flags().StringVar(&l.file, "address-file", "", "file to write the URL to once it listens, for a port that the system chose")
	OutputFile(c, "address-file")
	c.Flags().StringVar(&l.cert, "tls-cert", "", "certificate (PEM), to serve HTTPS")
	c.Flags().StringVar(&l.key, "tls-key", "", "key of the certificate (PEM)")
	c.Flags().DurationVar(&l.drain, "drain", 30*time.Second, "time for requests under way at shutdown")
}

// keyPair reads the certificate and its key.
func (l Listener) keyPair() (tls.Certificate, error) {
	cert, err1 := file.ReadAll(l.cert)
	key, err2 := file.ReadAll(l.key)
	if err := cmp.Or(err1, err2); err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(cert, key)
}

// Serve answers requests until ctx is cancelled, then lets requests under way
// finish. It prints the address it listens on.
func (l Listener) Serve(ctx context.Context, env *Env, s *http.Server) error {
	env.LogTimes()
	if (l.cert == "") != (l.key == "") {
		return Usagef("--tls-cert and --tls-key go together")
	}
	scheme := "http"
	if l.cert != "" {
		pair := Reread[tls.Certificate]{Paths: []string{l.cert, l.key}, Read: l.keyPair}
		if _, err := pair.Current(env); err != nil {
			return fmt.Errorf("%s: %w", l.cert, err)
		}
		s.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			c, err := pair.Current(env)
			return &c, err
		}}
		scheme = "https"
	}
	var config net.ListenConfig
	socket, err := config.Listen(ctx, "tcp", l.addr)
	if err != nil {
		return err
	}
	at := fmt.Sprintf("%s://%s\n", scheme, socket.Addr())
	if l.file != "" {
		err := file.Write(l.file, func(w io.Writer) error { _, err := io.WriteString(w, at); return err })
		if err != nil {
			return err
		}
	}
	if _, err := fmt.Fprint(env.Stdout, "listening on ", at); err != nil {
		return err
	}
	switch at, ok := socket.Addr().(*net.TCPAddr); {
	case ok && at.IP.IsLoopback():
		env.Log.Infof("only this machine can reach it; --address :%d opens it to others", at.Port)
	case !l.Guarded:
		env.Log.Warn("no token is set: everyone who can reach this machine can use the service")
	}
	ended := make(chan error, 1)
	crash.Go(func() {
		if scheme == "https" {
			ended <- s.ServeTLS(socket, "", "")
		} else {
			ended <- s.Serve(socket)
		}
	})
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	if l.Drained != nil {
		l.Drained()
	}
	env.Log.Info("draining")
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.drain)
	defer cancel()
	if err := s.Shutdown(late); err != nil {
		s.Close()
		return fmt.Errorf("requests under way did not finish in %v: %w", l.drain, err)
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// mostWaiting is the largest number of connections that may wait for their clients.
const mostWaiting = 4096

// BoundServer returns a server that slow clients cannot exhaust: request headers may
// take ten seconds, and if more than 4,096 connections wait for their clients, the
// one that has waited longest is closed. Handlers that take long extend their own
// deadlines.
func BoundServer(env *Env, h http.Handler) *http.Server {
	w := &waiting{most: mostWaiting, at: map[net.Conn]*list.Element{}}
	return &http.Server{
		Handler: h, ConnState: w.state, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: time.Minute,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: log.New(env.Log.WriterLevel(logrus.DebugLevel), "", 0),
	}
}

// Token returns a function that gives the current bearer token: the content of a
// file, or, if path is "", an environment variable; "" for none. The file is read
// again when it changes, so call the function for each request.
func Token(env *Env, path, variable string) (func() string, error) {
	if path == "" {
		token, set := os.LookupEnv(variable)
		if set && token == "" {
			return nil, fmt.Errorf("$%s is empty: set a token, or unset the variable to serve without one", variable)
		}
		return func() string { return token }, nil
	}
	kept := Reread[string]{Paths: []string{path}, Read: func() (string, error) {
		text, err := file.ReadAll(path)
		if token := strings.TrimSpace(string(text)); err != nil || token != "" {
			return token, err
		}
		return "", fmt.Errorf("%s: no token in it", path)
	}}
	_, err := kept.Current(env)
	return func() string {
		token, _ := kept.Current(env) // the previous token if the file cannot be read
		return token
	}, err
}

// Reread caches a value read from files and reads it again when one of them
// changes.
type Reread[T any] struct {
	Paths []string
	Read  func() (T, error)

	mutex sync.Mutex
	kept  T
	ok    bool  // value is set
	stale error // why the files' present content is not the value
	seen  []time.Time
}

// Stale returns why the present content of the files is not used; nil if it is.
func (r *Reread[T]) Stale() error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.stale
}

// Current returns the value. If the files cannot be read, or one of them is no longer a regular
// file, it logs a warning and returns the previous value, or the error if there is none.
func (r *Reread[T]) Current(env *Env) (T, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	seen, err := modTimes(r.Paths)
	if r.ok && slices.EqualFunc(seen, r.seen, time.Time.Equal) {
		return r.kept, nil
	}
	next := r.kept
	if err == nil || !r.ok {
		next, err = r.Read()
	}
	r.stale = err
	switch {
	case err == nil:
		r.kept, r.ok = next, true
	case !r.ok:
		return r.kept, err
	default:
		env.Log.Warnf("%v; the previous content is still used", err)
	}
	r.seen = seen
	return r.kept, nil
}

// modTimes returns when files were last written, zero for a missing one. The error names a file
// that is not regular: a FIFO can be read once, and opening it may never return.
func modTimes(paths []string) (times []time.Time, err error) {
	times = make([]time.Time, len(paths))
	for i, path := range paths {
		info, statErr := os.Stat(path)
		if statErr != nil {
			continue
		}
		times[i] = info.ModTime()
		if !info.Mode().IsRegular() {
			err = cmp.Or(err, fmt.Errorf("%s: it cannot be read again when it changes: want a regular file", path))
		}
	}
	return times, err
}

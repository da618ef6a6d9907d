package daemon

import (
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/foretime/foretime/shared/access"
)

// Metrics configures the service of Prometheus metrics on TCP. The zero value has none:
// then they are only on the session's socket.
type Metrics struct {
	Address string        // such as 127.0.0.1:9440
	Token   func() string // returns the bearer token that clients must send, "" for none; nil none
	Version string        // of the program
}

// Bounds of the service on TCP, which everyone on the network may reach: it may take
// neither the memory nor the descriptors that the owner needs for the session.
const (
	mostConnections = 64
	mostHeaderBytes = 16 << 10
	scrapeTimeout   = 30 * time.Second // of a request, and of its response
)

// server returns the server of the metrics of a session's state.
func (s Metrics) server(status func() Status) *http.Server {
	scrape := metricsHandler(status, s.Version)
	if s.Token != nil {
		scrape = access.Bearer(s.Token, refuseScrape)(scrape)
	}
	m := http.NewServeMux()
	m.Handle("GET /metrics", scrape)
	m.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	return &http.Server{
		Handler:        m,
		ConnState:      new(connections).setState,
		ReadTimeout:    scrapeTimeout,
		WriteTimeout:   scrapeTimeout,
		MaxHeaderBytes: mostHeaderBytes,
	}
}

// refuseScrape answers a request without the token.
func refuseScrape(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "missing or wrong bearer token", http.StatusUnauthorized)
}

// connections holds the open connections of a server, at most mostConnections: a new one
// replaces the oldest. Clients that only hold theirs therefore lock nobody out.
type connections struct {
	mu   sync.Mutex
	open []net.Conn // oldest first
}

// setState notes the new state of a connection, as the ConnState of an [http.Server].
func (c *connections) setState(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		c.open = append(c.open, conn)
		if len(c.open) > mostConnections {
			_ = c.open[0].Close() // its server ends with it
			c.open = slices.Delete(c.open, 0, 1)
		}
	case http.StateClosed:
		c.open = slices.DeleteFunc(c.open, func(other net.Conn) bool { return other == conn })
	}
}

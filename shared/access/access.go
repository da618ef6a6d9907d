package access

import (
	"crypto/subtle"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

// IDHeader is the header with the name of a request, in requests and responses.
const IDHeader = "X-Request-Id"

// Request is a finished request.
type Request struct {
	ID     string
	Method string
	Route  string // the pattern of the router that matched, "" for none
	Path   string
	Remote string // address of the client
	Status int
	Bytes  int64 // of the response body
	Took   time.Duration
	Err    error // cause of a failure, as set by [SetError]; nil if only the client is at fault
}

// Log observes requests. Now and Fail are needed.
type Log struct {
	Now func() time.Time
	// Fail answers a request whose handler panicked before it wrote a response.
	Fail func(w http.ResponseWriter, r *http.Request, err error)
	// Done receives each finished request, from several goroutines. It must not block.
	Done func(Request)

	once   sync.Once
	start  string        // distinguishes the names of this process from another's
	number atomic.Uint64 // of the last request
}

// observed is a response with the cause of its failure.
type observed struct {
	middleware.WrapResponseWriter
	err error
}

// SetError sets the error of the request that w answers.
func SetError(w http.ResponseWriter, err error) {
	if o, ok := w.(*observed); ok {
		o.err = err
	}
}

// Handler returns a handler that names each request, passes it to next and reports it
// to Done. It turns a panic into an error; http.ErrAbortHandler still ends the
// connection.
func (l *Log) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := l.Now()
		id := l.name(r)
		w.Header().Set(IDHeader, id)
		o := &observed{WrapResponseWriter: middleware.NewWrapResponseWriter(w, r.ProtoMajor)}
		defer func() {
			p := recover()
			if p != nil && p != http.ErrAbortHandler {
				err := fmt.Errorf("panic: %v\n%s", p, debug.Stack())
				if o.Status() == 0 {
					l.Fail(o, r, err)
				}
				o.err = err
			}
			if l.Done != nil {
				route := ""
				if c := chi.RouteContext(r.Context()); c != nil {
					route = c.RoutePattern()
				}
				l.Done(Request{id, r.Method, route, r.URL.Path, r.RemoteAddr, o.Status(), int64(o.BytesWritten()), l.Now().Sub(start), o.err})
			}
			if p == http.ErrAbortHandler {
				panic(p)
			}
		}()
		next.ServeHTTP(o, r)
	})
}

// name returns the client's name for a request, if it has only plain characters, or a
// new one.
func (l *Log) name(r *http.Request) string {
	given := r.Header.Get(IDHeader)
	special := func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.')
	}
	if given != "" && len(given) <= 64 && strings.IndexFunc(given, special) < 0 {
		return given
	}
	l.once.Do(func() { l.start = strconv.FormatInt(l.Now().UnixNano(), 16) })
	return l.start + "-" + strconv.FormatUint(l.number.Add(1), 10)
}

// Bearer returns middleware that passes requests with the bearer token that token
// returns, or all requests while it returns "" (RFC 6750). refuse answers the others.
func Bearer(token func() string, refuse http.HandlerFunc) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
			want := token()
			if want != "" && (!strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare([]byte(given), []byte(want)) != 1) {
				w.Header().Set("WWW-Authenticate", "Bearer")
				refuse(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

package device

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Returned when Prometheus does not answer.
var (
	// ErrUnreachable is returned when no server answers at the address.
	ErrUnreachable = errors.New("no answer from Prometheus")
	// ErrTimeout is returned when a query takes longer than it may.
	ErrTimeout = errors.New("Prometheus did not answer in time")
	// ErrAnswer is returned for an answer that is no result: an error of the
	// server, something else than its API, or more than the limit.
	ErrAnswer = errors.New("unusable answer from Prometheus")
)

// sample is one series of an instant vector.
type sample struct {
	labels map[string]string
	value  float64
}

// answer is the body of /api/v1/query (Prometheus, HTTP API).
type answer struct {
	Status    string `json:"status"`
	ErrorType string `json:"errorType"`
	Error     string `json:"error"`
	Data      struct {
		ResultType string `json:"resultType"`
		Result     []struct {
			Metric map[string]string  `json:"metric"`
			Value  [2]json.RawMessage `json:"value"` // seconds, "number"
		} `json:"result"`
	} `json:"data"`
}

// query evaluates an expression now.
func (s Prometheus) query(ctx context.Context, expression string) ([]sample, error) {
	form := url.Values{"query": {expression}, "timeout": {strconv.FormatFloat(s.timeout().Seconds(), 'f', -1, 64)}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(s.URL, "/")+"/api/v1/query", strings.NewReader(form.Encode()))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := s.client().Do(request)
	if err != nil {
		return nil, s.through(request, failure(err))
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, s.maxBytes()+1))
	switch {
	case err != nil:
		return nil, failure(err)
	case int64(len(body)) > s.maxBytes():
		return nil, fmt.Errorf("%w: it has more than %d bytes", ErrAnswer, s.maxBytes())
	}
	return parse(response, body)
}

// client returns the source's, but follows no redirect to another host: what answers there is
// not what the user named.
func (s Prometheus) client() *http.Client {
	c := *s.Client
	c.CheckRedirect = func(request *http.Request, via []*http.Request) error {
		if request.URL.Host != via[0].URL.Host {
			return fmt.Errorf("it redirects to %s: name that address", request.URL.Host)
		}
		if len(via) >= 10 {
			return errors.New("it redirects 10 times")
		}
		return nil
	}
	return &c
}

// through adds the proxy that a request went through to its error.
func (s Prometheus) through(request *http.Request, err error) error {
	transport, ok := s.Client.Transport.(*http.Transport)
	if !ok || transport.Proxy == nil {
		return err
	}
	if proxy, wrong := transport.Proxy(request); wrong == nil && proxy != nil {
		return fmt.Errorf("%w (through the proxy %s of the environment; NO_PROXY lists hosts without one)", err, proxy.Redacted())
	}
	return err
}

// failure sorts a transport's error.
func failure(err error) error {
	var slow net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &slow) && slow.Timeout() {
		return fmt.Errorf("%w: %w", ErrTimeout, err)
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, err)
}

func parse(response *http.Response, body []byte) ([]sample, error) {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if kind != "application/json" {
		return nil, fmt.Errorf("%w: status %d, content type %q", ErrAnswer, response.StatusCode, kind)
	}
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, fmt.Errorf("%w: status %d: %w", ErrAnswer, response.StatusCode, err)
	}
	switch {
	case a.ErrorType == "timeout":
		return nil, fmt.Errorf("%w: %s", ErrTimeout, a.Error)
	case response.StatusCode != http.StatusOK || a.Status != "success":
		return nil, fmt.Errorf("%w: status %d %q: %s: %s", ErrAnswer, response.StatusCode, a.Status, a.ErrorType, a.Error)
	case a.Data.ResultType != "vector":
		return nil, fmt.Errorf("%w: the result has type %q, want a vector", ErrAnswer, a.Data.ResultType)
	}
	samples := make([]sample, 0, len(a.Data.Result))
	for i, r := range a.Data.Result {
		var text string
		if err := json.Unmarshal(r.Value[1], &text); err != nil {
			return nil, fmt.Errorf("%w: result %d: value %s", ErrAnswer, i, r.Value[1])
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("%w: result %d: value %q", ErrAnswer, i, text)
		}
		samples = append(samples, sample{r.Metric, v})
	}
	return samples, nil
}

// promDuration writes a duration as PromQL has it.
func promDuration(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) + "ms" }

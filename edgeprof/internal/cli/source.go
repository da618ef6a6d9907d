package cli

import (
	"cmp"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/registry"
)

// sources are the sources of devices. The text after the colon in --source is passed
// to the source.
var sources = registry.List[func(s *sourcing, of string) (device.Source, error)]{
	{Name: "local", Help: "this machine", New: func(s *sourcing, _ string) (device.Source, error) { return local(s.root) }},
	{Name: "prometheus", Help: "a cluster, from its agents and node_exporters", New: (*sourcing).fromPrometheus},
	{Name: "file", Help: "a list of devices: file:DEVICES.json", New: fromFile},
}

// sourcing holds the flags and settings of sources.
type sourcing struct {
	name       string // "": prometheus if its address is known, else local
	root       fs.FS  // this machine's file system
	prometheus device.Prometheus
	settings   sourceSettings
}

// sourceSettings holds the settings of Prometheus.
type sourceSettings struct {
	Source struct {
		NodeLabel  string `json:"node-label" help:"label of node_exporter's series that contains the node's name"`
		GPULoad    string `json:"gpu-load" help:"PromQL for the load of GPUs in percent, whose series have the label instance or Hostname of a node"`
		LoadWindow span   `json:"load-window" help:"window over which CPU load is averaged; 0 is four scrape intervals"`
		MaxAge     span   `json:"max-age" help:"greatest age of a device's samples"`
		Timeout    span   `json:"timeout" help:"timeout of the source of devices"`
	} `json:"source"`
}

// span is a duration in the form 90s, 5m or 0.
type span time.Duration

// UnmarshalJSON reads a duration.
func (s *span) UnmarshalJSON(text []byte) error {
	d, err := time.ParseDuration(strings.Trim(string(text), `"`))
	*s = span(d)
	return err
}

// String returns the duration in the form that is read.
func (s span) String() string { return time.Duration(s).String() }

func newSourcing(root fs.FS) sourcing {
	s := sourcing{root: root}
	of := &s.settings.Source
	of.NodeLabel = "instance"
	of.GPULoad = "DCGM_FI_DEV_GPU_UTIL"
	of.MaxAge = span(time.Minute)
	of.Timeout = span(5 * time.Second)
	return s
}

func (s *sourcing) flags(c *cobra.Command, name, otherwise string) {
	f := c.Flags()
	f.StringVar(&s.name, "source", name, "source of devices"+otherwise+":\n"+strings.TrimRight(sources.Help(), "\n"))
	cli.Values(c, "source", append(sources.Names(), "file:")...) // DEVICES.json follows
	f.StringVar(&s.prometheus.URL, "prometheus", "", "HOST:PORT or URL of Prometheus (default: $PROMETHEUS_IP)")
}

func (s *sourcing) address() string { return cmp.Or(s.prometheus.URL, os.Getenv("PROMETHEUS_IP")) }

// devices returns the source that flags and settings name.
func (s *sourcing) devices() (device.Source, error) {
	of := s.settings.Source
	if of.Timeout <= 0 {
		return nil, cli.Usagef("source.timeout %v: want a duration above 0", of.Timeout)
	}
	p := &s.prometheus
	p.NodeLabel = of.NodeLabel
	p.GPULoad = of.GPULoad
	p.Window = time.Duration(of.LoadWindow)
	p.MaxAge = time.Duration(of.MaxAge)
	p.Timeout = time.Duration(of.Timeout)
	if s.name == "" {
		s.name = "local"
		if s.address() != "" {
			s.name = "prometheus"
		}
	}
	name, file, _ := strings.Cut(s.name, ":")
	source, err := sources.Find(name)
	if err != nil {
		return nil, cli.Usagef("--source: %w", err)
	}
	return source(s, file)
}

func fromFile(_ *sourcing, path string) (device.Source, error) {
	if path == "" {
		return nil, cli.Usagef("--source file: want file:DEVICES.json")
	}
	return device.File{Path: path}, nil
}

func (s *sourcing) fromPrometheus(string) (device.Source, error) {
	address := s.address()
	if address == "" {
		return nil, cli.Usagef("--source prometheus: no address: give --prometheus HOST:PORT or set PROMETHEUS_IP")
	}
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	if u, err := url.Parse(address); err != nil || u.Host == "" {
		return nil, cli.Usagef("--prometheus %s: want HOST:PORT or a URL", address)
	}
	s.prometheus.URL = address
	s.prometheus.Client = &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 3, IdleConnTimeout: time.Minute}}
	return s.prometheus, nil
}

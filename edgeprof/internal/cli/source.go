package cli

import (
	"cmp"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/edgeprof/device"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/registry"
)

// sources are where devices come from. What follows a colon in --source is the
// source's own.
var sources = registry.List[func(s *sourcing, of string) (device.Source, error)]{
	{Name: "local", Help: "this machine", New: func(*sourcing, string) (device.Source, error) { return local() }},
	{Name: "prometheus", Help: "a cluster, by its agents and node_exporters", New: (*sourcing).fromPrometheus},
	{Name: "file", Help: "a list of devices: file:DEVICES.json", New: fromFile},
}

// sourcing is what the flags say of sources.
type sourcing struct {
	name       string // "": prometheus where its address is known, else local
	prometheus device.Prometheus
}

func (s *sourcing) flags(c *cobra.Command, name, otherwise string) {
	f := c.Flags()
	f.StringVar(&s.name, "source", name, "where devices come from"+otherwise+":\n"+strings.TrimRight(sources.Help(), "\n"))
	f.StringVar(&s.prometheus.URL, "prometheus", "", "HOST:PORT or URL of Prometheus (default: PROMETHEUS_IP of the environment)")
	f.StringVar(&s.prometheus.NodeLabel, "node-label", "instance", "label of node_exporter's series that names the node")
	f.DurationVar(&s.prometheus.Window, "load-window", time.Minute, "what CPU load is averaged over")
	f.DurationVar(&s.prometheus.MaxAge, "max-age", time.Minute, "oldest sample of a device that counts")
	f.DurationVar(&s.prometheus.Timeout, "source-timeout", 5*time.Second, "longest time to wait for the source of devices")
}

func (s *sourcing) address() string { return cmp.Or(s.prometheus.URL, os.Getenv("PROMETHEUS_IP")) }

// devices is the source that the flags name.
func (s *sourcing) devices() (device.Source, error) {
	if s.prometheus.Timeout <= 0 {
		return nil, cli.Usagef("--source-timeout %v: want more than 0", s.prometheus.Timeout)
	}
	if s.name == "" {
		s.name = "local"
		if s.address() != "" {
			s.name = "prometheus"
		}
	}
	name, of, _ := strings.Cut(s.name, ":")
	source, err := sources.Find(name)
	if err != nil {
		return nil, cli.Usagef("--source: %w", err)
	}
	return source(s, of)
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
		return nil, cli.Usagef("--source prometheus: where is it? give --prometheus HOST:PORT or PROMETHEUS_IP")
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

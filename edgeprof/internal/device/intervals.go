package device

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// usualInterval is the default scrape interval of Prometheus.
const usualInterval = time.Minute

// intervals returns the scrape intervals of the server, shortest first; the usual one if it
// does not show its configuration.
func (s Prometheus) intervals(ctx context.Context) []time.Duration {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(s.URL, "/")+"/api/v1/status/config", nil)
	if err != nil {
		return []time.Duration{usualInterval}
	}
	response, err := s.client().Do(request)
	if err != nil {
		return []time.Duration{usualInterval} // the queries report it
	}
	defer response.Body.Close()
	var answer struct {
		Data struct {
			YAML string `json:"yaml"`
		} `json:"data"`
	}
	if json.NewDecoder(io.LimitReader(response.Body, s.maxBytes())).Decode(&answer) != nil {
		return []time.Duration{usualInterval}
	}
	return parseIntervals(answer.Data.YAML)
}

// parseIntervals reads the intervals of a configuration.
func parseIntervals(text string) []time.Duration {
	var config struct {
		Global struct {
			Interval string `yaml:"scrape_interval"`
		} `yaml:"global"`
		Jobs []struct {
			Interval string `yaml:"scrape_interval"`
		} `yaml:"scrape_configs"`
	}
	_ = yaml.Unmarshal([]byte(text), &config) // a configuration of another program has none
	usual, err := time.ParseDuration(config.Global.Interval)
	if err != nil || usual <= 0 {
		usual = usualInterval
	}
	all := []time.Duration{}
	for _, job := range config.Jobs {
		every, err := time.ParseDuration(job.Interval)
		if err != nil || every <= 0 {
			every = usual
		}
		all = append(all, every)
	}
	if len(all) == 0 {
		all = append(all, usual)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// windows returns the windows for rates, shortest first, and the greatest age of a sample.
func (s Prometheus) windows(intervals []time.Duration) ([]time.Duration, time.Duration) {
	var windows []time.Duration
	if s.Window > 0 {
		windows = append(windows, s.Window)
	}
	for _, every := range intervals {
		if 4*every > s.Window {
			windows = append(windows, 4*every)
		}
	}
	longest := intervals[len(intervals)-1]
	return windows, max(s.maxAge(), 5*longest/2)
}

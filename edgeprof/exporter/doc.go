// Package exporter says what a node is in the terms of the characterization
// agent: the char_node_* metrics of char_agent 1.2, for Prometheus to scrape.
//
// It decides where each fact is read in /proc and /sys, and keeps a node's
// identity the same at every start. It asks nobody outside the machine: where a
// node stands is what its owner says. It refuses to report what it cannot read:
// a machine without a battery or a power meter has no such metric, where the
// original reported a constant.
//
//	registry := prometheus.NewRegistry()
//	registry.MustRegister(exporter.New(exporter.Settings{Root: os.DirFS("/"), Node: "rpi-1"}))
//	http.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
package exporter

package device

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
)

// exporter is a node_exporter: its instance in Prometheus with and without a port, and its
// kernel's host name.
type exporter struct{ instance, address, host string }

// joinRules say that an exporter may belong to a node, the most certain rule first.
var joinRules = []func(name string, n *node, e exporter) bool{
	func(name string, _ *node, e exporter) bool { return name == e.instance || name == e.address },
	func(_ string, n *node, e exporter) bool {
		for agent := range n.agents {
			if at := address(agent); at != "" && at == e.address {
				return true
			}
		}
		return false
	},
	func(name string, _ *node, e exporter) bool { return name == e.host },
	func(name string, _ *node, e exporter) bool { return isSameHost(name, e.address) },
	func(name string, _ *node, e exporter) bool { return isSameHost(name, e.host) },
}

// join finds the node that each exporter's series belong to. An exporter of a node's own name
// belongs to it. Of the others, a rule joins a node and an exporter if it joins neither
// to another one: boards may share a host name. The exporters of which each may be a node's
// become its rivals.
func (s Prometheus) join(nodes map[string]*node, rows []sample) (owners map[string]string) {
	all := map[string]exporter{}
	for _, row := range rows {
		if row.labels["quantity"] == gpuPercent {
			continue // of another exporter
		}
		instance := row.labels[s.label()]
		if e, seen := all[instance]; !seen || e.host == "" {
			all[instance] = exporter{instance, address(instance), row.labels["nodename"]}
		}
	}
	owners = map[string]string{}
	owned := map[string]bool{}
	for i, applies := range joinRules {
		exporters := map[string][]string{} // that a node may have
		claims := map[string]int{}         // of nodes, by exporter
		for name, n := range nodes {
			if owned[name] {
				continue
			}
			for instance, e := range all {
				if owners[instance] == "" && applies(name, n, e) {
					exporters[name] = append(exporters[name], instance)
					claims[instance]++
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(exporters)) {
			instances := exporters[name]
			free := slices.DeleteFunc(slices.Clone(instances), func(instance string) bool { return claims[instance] > 1 })
			switch {
			case i == 0 || len(instances) == 1 && len(free) == 1:
				for _, instance := range instances {
					owners[instance] = name
				}
				owned[name] = true
			case len(instances) > 1:
				slices.Sort(instances)
				nodes[name].rivals = instances
			}
		}
	}
	for name := range owned {
		nodes[name].rivals = nil
	}
	return owners
}

// ownerOfGPU returns the node that a GPU's load belongs to: that of its host's name, or the owner
// of a node_exporter at the same address; "" if there is none.
func (s Prometheus) ownerOfGPU(gpu sample, nodes map[string]*node, owners map[string]string) string {
	if host := gpu.labels["Hostname"]; nodes[host] != nil {
		return host
	}
	for instance, name := range owners {
		if address(instance) == address(gpu.labels[s.label()]) {
			return name
		}
	}
	return ""
}

// isRival reports whether an exporter may belong to a node that others may have too.
func isRival(nodes map[string]*node, instance string) bool {
	for _, n := range nodes {
		if slices.Contains(n.rivals, instance) {
			return true
		}
	}
	return false
}

// address returns an instance without its port.
func address(instance string) string {
	if host, _, err := net.SplitHostPort(instance); err == nil {
		return host
	}
	return instance
}

// isSameHost reports whether one of two names is the other with a domain: pi-2 and pi-2.lan.
func isSameHost(a, b string) bool {
	a = strings.ToLower(a)
	b = strings.ToLower(b)
	if len(a) > len(b) {
		a, b = b, a
	}
	return a != "" && net.ParseIP(b) == nil && strings.HasPrefix(b+".", a+".")
}

// listOthers returns a note that names some of a list; "" for none.
func listOthers(what string, names []string) string {
	const most = 3
	switch {
	case len(names) == 0:
		return ""
	case len(names) > most:
		return fmt.Sprintf("; %s: %s and %d more", what, strings.Join(names[:most], ", "), len(names)-most)
	}
	return fmt.Sprintf("; %s: %s", what, strings.Join(names, ", "))
}

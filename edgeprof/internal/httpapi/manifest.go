package httpapi

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/foretime/foretime/edgeprof/internal/placement"
)

// workload is the container that a manifest runs.
type workload struct{ name, namespace, image string }

var (
	// a name of RFC 1123, as Kubernetes wants for a Deployment
	dnsLabel = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	// the value of a Kubernetes label
	labelValue = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)
	// a reference to a container image, without its rarer forms
	imageName = regexp.MustCompile(`^[a-zA-Z0-9][-a-zA-Z0-9_.:/@]{0,254}$`)
)

// workloadOf reads ?workload=, ?namespace= and ?image=.
func workloadOf(r *http.Request) (workload, error) {
	q := r.URL.Query()
	w := workload{name: cmp.Or(q.Get("workload"), "model"), namespace: cmp.Or(q.Get("namespace"), "default")}
	w.image = cmp.Or(q.Get("image"), w.name+":latest")
	switch {
	case !dnsLabel.MatchString(w.name):
		return w, fmt.Errorf("%w: workload=%s: want lower-case letters, digits and -", errParameter, w.name)
	case !dnsLabel.MatchString(w.namespace):
		return w, fmt.Errorf("%w: namespace=%s: want lower-case letters, digits and -", errParameter, w.namespace)
	case !imageName.MatchString(w.image):
		return w, fmt.Errorf("%w: image=%s: want the name of an image", errParameter, w.image)
	}
	return w, nil
}

// node is a mapping of a manifest.
type node = map[string]any

const hostname = "kubernetes.io/hostname"

// manifest returns a Deployment (apps/v1) that may run on the candidates, and prefers each by
// how fast it is: 100 for the fastest, half of it for one that takes twice as
// long. Nodes whose name no label can have are left out; the error matches
// [placement.ErrNoDevice] where none is left.
func manifest(w workload, r *placement.Ranking) ([]byte, error) {
	labels := node{"app.kubernetes.io/name": w.name}
	on := func(names ...string) node { // one of these nodes
		return node{"matchExpressions": []node{{"key": hostname, "operator": "In", "values": names}}}
	}
	var names []string
	var preferred []node
	var fastest placement.Candidate
	for _, c := range r.Candidates {
		if !labelValue.MatchString(c.Node) {
			continue
		}
		if names == nil {
			fastest = c
		}
		names = append(names, c.Node)
		weight := int(math.Round(100 * fastest.FinishTime() / c.FinishTime()))
		preferred = append(preferred, node{"weight": max(1, min(100, weight)), "preference": on(c.Node)})
	}
	if names == nil {
		return nil, fmt.Errorf("%w: no node name is a valid Kubernetes label value", placement.ErrNoDevice)
	}
	seconds := func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
	notes := node{
		"edgeprof.foretime/fastest-node":                     fastest.Node,
		"edgeprof.foretime/predicted-execution-time-seconds": seconds(fastest.Seconds.Value),
	}
	if fastest.Seconds.IsBounded() {
		notes["edgeprof.foretime/interval-seconds"] = seconds(fastest.Seconds.Low) + " to " + seconds(fastest.Seconds.High)
	}
	d := node{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": node{"name": w.name, "namespace": w.namespace, "labels": labels, "annotations": notes},
		"spec": node{"replicas": 1, "selector": node{"matchLabels": labels}, "template": node{"metadata": node{"labels": labels}, "spec": node{
			"affinity": node{"nodeAffinity": node{
				"requiredDuringSchedulingIgnoredDuringExecution":  node{"nodeSelectorTerms": []node{on(names...)}},
				"preferredDuringSchedulingIgnoredDuringExecution": preferred,
			}},
			"containers": []node{{"name": w.name, "image": w.image}},
		}}},
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(d); err != nil {
		return nil, err
	}
	return b.Bytes(), enc.Close()
}

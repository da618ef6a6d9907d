package cli

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/shared/cli"
)

// agentSettings holds the settings of the agent.
type agentSettings struct {
	Location struct {
		City      string `json:"city" help:"city of the machine"`
		Country   string `json:"country" help:"country of the machine"`
		Continent string `json:"continent" help:"continent of the machine"`
		Latitude  string `json:"latitude" help:"latitude of the machine, in degrees"`
		Longitude string `json:"longitude" help:"longitude of the machine, in degrees"`
	} `json:"location"`
}

// newAgentCommand returns agent, which exports this machine's properties to Prometheus.
func newAgentCommand(env *cli.Env) *cobra.Command {
	var at cli.Listener
	var node, model, root string
	var with agentSettings
	settings := cli.NewSettings(&with)
	c := &cobra.Command{
		Use:     "agent",
		Example: "  edgeprof agent --device-model \"Raspberry Pi 4B\"",
		Short:   "Export this machine's properties to Prometheus",
		Long: `Export this machine's properties to Prometheus: the char_node_* metrics of the
characterization agent, at /metrics. They are read from this machine only. Load
comes from node_exporter.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := settings.Load(); err != nil {
				return err
			}
			place := device.Location(with.Location)
			if !isAngle(place.Latitude, 90) || !isAngle(place.Longitude, 180) {
				return cli.Usagef("location.latitude %q, location.longitude %q: want degrees, a latitude of -90 to 90 and a longitude of -180 to 180", place.Latitude, place.Longitude)
			}
			host, err := os.Hostname()
			if err != nil {
				return err
			}
			s := device.ExporterSettings{
				Root: os.DirFS(root), Node: cmp.Or(node, os.Getenv("NODE_NAME"), host), Model: cmp.Or(model, os.Getenv("DEVICE_MODEL")),
				Arch: machine(), Now: time.Now, DiskBytes: func() (uint64, error) { return sizeOf(root) }, Location: place,
			}
			e := device.NewExporter(s)
			if _, err := e.Identity(); err != nil {
				return fmt.Errorf("%s: %w", root, err)
			}
			registry := prometheus.NewRegistry()
			registry.MustRegister(e)
			mux := http.NewServeMux()
			mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 8, Timeout: 10 * time.Second}))
			mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
			server := cli.BoundServer(env, mux)
			server.SetKeepAlivesEnabled(false) // connections that wait for the next scrape take memory
			return at.Serve(cmd.Context(), env, server)
		},
	}
	at.Flags(c, ":5001")
	c.Flags().StringVar(&node, "node", "", "name of this node (default: $NODE_NAME, or the host name)")
	c.Flags().StringVar(&model, "device-model", "", "model name of this device (default: $DEVICE_MODEL, or what the machine reports)")
	c.Flags().StringVar(&root, "root", "/", "root of the machine's file system, as seen from a container")
	settings.Flags(c)
	cli.First(c, "address", "node", "device-model")
	return c
}

// isAngle reports whether a text is empty or an angle in degrees of at most a size.
func isAngle(text string, most float64) bool {
	v, err := strconv.ParseFloat(text, 64)
	return text == "" || err == nil && math.Abs(v) <= most
}

// machine returns the kernel's name of the instruction set, as uname -m.
func machine() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Machine[:])
}

// sizeOf returns the size in bytes of the file system that holds a directory.
func sizeOf(directory string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(directory, &s); err != nil {
		return 0, err
	}
	return s.Blocks * uint64(s.Bsize), nil
}

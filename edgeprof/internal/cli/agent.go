package cli

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/shared/cli"
)

// newAgentCommand reports what this machine is, for Prometheus to scrape.
func newAgentCommand(env *cli.Env) *cobra.Command {
	var at cli.Listener
	var node, model, root string
	var place device.Location
	c := &cobra.Command{
		Use:     "agent",
		Example: "  edgeprof agent --device-model \"Raspberry Pi 4B\"",
		Short:   "Tell Prometheus what this machine is",
		Long: `Tell Prometheus what this machine is: the char_node_* metrics of the
characterization agent at /metrics, read from this machine alone. Its load is
node_exporter's to tell.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
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
			return at.Serve(cmd.Context(), env, cli.Bounded(env, mux))
		},
	}
	at.Flags(c, ":5001")
	c.Flags().StringVar(&node, "node", "", "name of this node (default: NODE_NAME of the environment, or the host's name)")
	c.Flags().StringVar(&model, "device-model", "", "what this device is (default: DEVICE_MODEL of the environment, or what the machine says)")
	c.Flags().StringVar(&root, "root", "/", "root of the machine's file system, as a container sees it")
	c.Flags().StringVar(&place.City, "city", "", "where the machine stands")
	c.Flags().StringVar(&place.Country, "country", "", "where the machine stands")
	c.Flags().StringVar(&place.Continent, "continent", "", "where the machine stands")
	c.Flags().StringVar(&place.Latitude, "latitude", "", "where the machine stands, in degrees")
	c.Flags().StringVar(&place.Longitude, "longitude", "", "where the machine stands, in degrees")
	cli.First(c, "addr", "node", "device-model", "city", "country")
	return c
}

// machine is the instruction set as the kernel names it.
func machine() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Machine[:])
}

// sizeOf is the size of the file system at a folder in bytes.
func sizeOf(folder string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return 0, err
	}
	return s.Blocks * uint64(s.Bsize), nil
}

package edgeprof_test

import (
	"bufio"
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/foretime/foretime/edgeprof/internal/cli"
	shared "github.com/foretime/foretime/shared/cli"
)

// object is the part of a manifest that decides how its containers run; the schemas of
// Kubernetes check all of it (TestRealManifests in tools).
type object struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   metadata
	Spec       struct {
		Replicas        int
		SessionAffinity string `yaml:"sessionAffinity"`
		Selector        yaml.Node
		Ports           []struct {
			Name       string
			Port       int
			TargetPort string `yaml:"targetPort"`
		}
		Template struct {
			Metadata metadata
			Spec     struct {
				AutomountServiceAccountToken  *bool `yaml:"automountServiceAccountToken"`
				TerminationGracePeriodSeconds int   `yaml:"terminationGracePeriodSeconds"`
				Tolerations                   []struct{ Operator string }
				Containers                    []container
				Volumes                       []struct {
					Name     string
					EmptyDir struct {
						SizeLimit string `yaml:"sizeLimit"`
					} `yaml:"emptyDir"`
					HostPath struct{ Path string } `yaml:"hostPath"`
				}
			}
		}
	}
}

type metadata struct {
	Name, Namespace string
	Labels          map[string]string
}

type probe struct {
	HTTPGet        struct{ Path, Port string } `yaml:"httpGet"`
	PeriodSeconds  int                         `yaml:"periodSeconds"`
	TimeoutSeconds int                         `yaml:"timeoutSeconds"`
}

type container struct {
	Name, Image string
	Args        []string
	Env         []struct {
		Name, Value string
		ValueFrom   struct {
			SecretKeyRef struct {
				Name, Key string
				Optional  bool
			} `yaml:"secretKeyRef"`
			FieldRef struct {
				FieldPath string `yaml:"fieldPath"`
			} `yaml:"fieldRef"`
		} `yaml:"valueFrom"`
	}
	Ports []struct {
		Name          string
		ContainerPort int `yaml:"containerPort"`
	}
	Resources       map[string]map[string]string
	SecurityContext struct {
		RunAsNonRoot             bool `yaml:"runAsNonRoot"`
		RunAsUser                int  `yaml:"runAsUser"`
		ReadOnlyRootFilesystem   bool `yaml:"readOnlyRootFilesystem"`
		AllowPrivilegeEscalation bool `yaml:"allowPrivilegeEscalation"`
		Capabilities             struct{ Drop []string }
	} `yaml:"securityContext"`
	VolumeMounts []struct {
		Name             string
		MountPath        string `yaml:"mountPath"`
		ReadOnly         bool   `yaml:"readOnly"`
		MountPropagation string `yaml:"mountPropagation"`
	} `yaml:"volumeMounts"`
	Liveness  probe `yaml:"livenessProbe"`
	Readiness probe `yaml:"readinessProbe"`
}

func manifests(t *testing.T, path string) []object {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	var all []object
	for {
		var o object
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, o)
	}
}

// What the manifests run exists: commands and flags, ports and probes, volumes.
func TestManifests(t *testing.T) {
	for _, path := range []string{"deploy/serve.yaml", "deploy/agent.yaml"} {
		workloads := 0
		for _, o := range manifests(t, path) {
			if o.APIVersion == "" || o.Kind == "" || o.Metadata.Name == "" || o.Metadata.Namespace == "" && o.Kind != "Namespace" {
				t.Errorf("%s: %+v", path, o)
			}
			ports := map[string]bool{}
			for _, c := range o.Spec.Template.Spec.Containers {
				workloads++
				for _, p := range c.Ports {
					ports[p.Name] = true
					if !slices.ContainsFunc(c.Args, func(arg string) bool { return strings.HasSuffix(arg, fmt.Sprint(":", p.ContainerPort)) }) {
						t.Errorf("%s: nothing listens at port %d: %q", path, p.ContainerPort, c.Args)
					}
				}
				if !ports[c.Liveness.HTTPGet.Port] || c.Liveness.HTTPGet.Path != "/healthz" || c.Readiness.HTTPGet.Path != "" && c.Readiness.HTTPGet.Path != "/readyz" {
					t.Errorf("%s: probes %+v %+v", path, c.Liveness, c.Readiness)
				}
				env := shared.NewEnv(nil, io.Discard, io.Discard)
				command, rest, err := cli.New(env).Find(c.Args)
				if err == nil {
					err = command.ParseFlags(rest)
				}
				if err != nil || command.Name() != c.Args[0] {
					t.Errorf("%s: %q: %v", path, c.Args, err)
				}
				for _, m := range c.VolumeMounts {
					found := false
					for _, v := range o.Spec.Template.Spec.Volumes {
						found = found || v.Name == m.Name
					}
					if !found {
						t.Errorf("%s: no volume %q", path, m.Name)
					}
				}
				if !c.SecurityContext.RunAsNonRoot || !c.SecurityContext.ReadOnlyRootFilesystem || c.SecurityContext.AllowPrivilegeEscalation {
					t.Errorf("%s: %+v", path, c.SecurityContext)
				}
			}
			for key, v := range o.Metadata.Labels {
				if o.Kind != "Service" && o.Kind != "NetworkPolicy" && o.Spec.Template.Metadata.Labels[key] != v {
					t.Errorf("%s: %s %s: label %s is not its pods'", path, o.Kind, o.Metadata.Name, key)
				}
			}
		}
		if workloads != 1 {
			t.Errorf("%s: %d containers", path, workloads)
		}
	}
}

// Prometheus takes the scrape configuration. Debian builds it without
// Kubernetes, so the discovery itself is left out.
func TestRealScrapeConfiguration(t *testing.T) {
	if _, err := exec.LookPath("promtool"); err != nil {
		t.Skip("needs promtool: install with apt-get install prometheus")
	}
	text, err := os.ReadFile("deploy/prometheus.yml")
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Jobs []map[string]any `yaml:"scrape_configs"`
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, job := range config.Jobs {
		delete(job, "kubernetes_sd_configs")
		if authorization, ok := job["authorization"].(map[string]any); ok {
			authorization["credentials_file"] = token
		}
	}
	path := filepath.Join(filepath.Dir(token), "prometheus.yml")
	if text, err = yaml.Marshal(map[string]any{"scrape_configs": config.Jobs}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("promtool", "check", "config", path).CombinedOutput(); err != nil || len(config.Jobs) != 3 {
		t.Errorf("%v\n%s", err, out)
	}
}

var copied = regexp.MustCompile(`(?m)^COPY (?:--from=\S+ )?(\S+)`)

// What the Dockerfile copies and builds exists.
func TestDockerfile(t *testing.T) {
	text, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range copied.FindAllStringSubmatch(string(text), -1) {
		if strings.HasPrefix(m[1], "/") {
			continue // from the first stage
		}
		if _, err := os.Stat(filepath.Join("..", m[1])); err != nil {
			t.Errorf("COPY %s: %v", m[1], err)
		}
	}
	for _, part := range []string{"CGO_ENABLED=0", "./cmd/edgeprof\n", "./cmd/edgeprof-ort\n", "/libonnxruntime.so.1\n", "USER 65532", `CMD ["serve", "--address=:7001"]`} {
		if !strings.Contains(string(text), part) {
			t.Errorf("no %q", part)
		}
	}
	components, err := os.ReadFile("real.txt")
	if err != nil {
		t.Fatal(err)
	}
	wheel := regexp.MustCompile(`onnxruntime==(\S+)`)
	if tested, has := wheel.FindSubmatch(components), wheel.FindSubmatch(text); tested == nil || has == nil || string(tested[1]) != string(has[1]) || !strings.Contains(string(text), "libonnxruntime.so."+string(has[1])+" ") {
		t.Errorf("the image has ONNX Runtime %q, the tests %q", has, tested)
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	image := regexp.MustCompile(`golang:(\d+\.\d+)-`).FindSubmatch(text)
	if image == nil || !regexp.MustCompile(`(?m)^go `+regexp.QuoteMeta(string(image[1]))+`\.`).Match(mod) {
		t.Errorf("the image builds with Go %q", image)
	}
}

// built is the command without cgo, in a folder of its own.
func built(t *testing.T, arch string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "edgeprof")
	cmd := exec.Command("go", "build", "-o", path, "./cmd/edgeprof")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// TestRealBoards builds the command for the boards, which needs no library there.
func TestRealBoards(t *testing.T) {
	f, err := elf.Open(built(t, "arm64"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	libraries, err := f.ImportedLibraries()
	if err != nil || len(libraries) > 0 || f.Machine != elf.EM_AARCH64 || slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		t.Errorf("%v, needs %v (%v)", f.Machine, libraries, err)
	}
}

// TestRealEmptyRoot builds the command without cgo and starts it in a root that holds
// nothing but itself.
func TestRealEmptyRoot(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to change the root")
	}
	root := filepath.Dir(built(t, runtime.GOARCH))
	devices := `[{"node": "rpi-1", "cores": 4, "load": {"cpu_percent": 0, "disk_percent": 0}}]`
	if err := os.WriteFile(filepath.Join(root, "devices.json"), []byte(devices), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/edgeprof", "serve", "--source", "file:/devices.json", "--address", "127.0.0.1:0")
	cmd.Env, cmd.Dir = []string{}, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	line, _ := bufio.NewReader(stdout).ReadString('\n')
	url := strings.TrimPrefix(strings.TrimSpace(line), "listening on ")
	response, err := http.Get(url + "/readyz")
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		t.Fatalf("%v\n%s", err, &stderr)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("status %d", response.StatusCode)
	}
}

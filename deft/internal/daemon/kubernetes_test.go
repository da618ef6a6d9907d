package daemon_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/foretime/foretime/deft/hook"
	"github.com/foretime/foretime/deft/internal/daemon"
	"github.com/foretime/foretime/deft/simcuda"
)

// manifest is the part of a Kubernetes object that decides how its containers run.
type manifest struct {
	Kind string
	Spec struct {
		podSpec  `yaml:",inline"`
		Template struct {
			Metadata struct{ Annotations map[string]string }
			Spec     podSpec
		}
	}
}

type podSpec struct {
	InitContainers []container `yaml:"initContainers"`
	Containers     []container
	Volumes        []struct {
		Name     string
		HostPath struct{ Path, Type string } `yaml:"hostPath"`
	}
}

type container struct {
	Name, Image string
	Command     []string
	Env         []struct{ Name, Value string }
	Ports       []struct {
		ContainerPort int `yaml:"containerPort"`
	}
	SecurityContext struct {
		RunAsUser  int `yaml:"runAsUser"`
		RunAsGroup int `yaml:"runAsGroup"`
	} `yaml:"securityContext"`
	VolumeMounts []struct {
		Name      string
		MountPath string `yaml:"mountPath"`
		ReadOnly  bool   `yaml:"readOnly"`
	} `yaml:"volumeMounts"`
}

// contain runs a command as user and group $2 and $3 below the root directory $1: with the system's programs, the directories of the
// image $4, and the volumes "SOURCE TARGET ro|rw" until --. It stays the first process of
// its namespace, which ends with it.
const contain = `set -e
mount --make-rprivate /
root=$1 user=$2 group=$3 image=$4
shift 4
for dir in bin sbin lib lib64 usr etc; do
	if [ -L /$dir ]; then ln -sf "$(readlink /$dir)" $root/$dir
	elif [ -d /$dir ]; then mkdir -p $root/$dir; mount --rbind /$dir $root/$dir; fi
done
mount --bind $image/bin $root/usr/local/bin
mkdir -p $root/opt $root/proc $root/tmp $root/dev/shm
chmod 1777 $root/tmp $root/dev/shm
mount --bind $image/opt $root/opt
mount -t proc proc $root/proc
: > $root/dev/null
mount --bind /dev/null $root/dev/null
while [ "$1" != -- ]; do
	mkdir -p "$root$2"
	mount --bind "$1" "$root$2"
	[ $3 = rw ] || mount -o remount,bind,ro "$root$2"
	shift 3
done
shift
chroot $root setpriv --reuid $user --regid $group --clear-groups --no-new-privs --inh-caps=-all env -i HOME=/ PATH=/usr/local/bin:/usr/bin:/bin "$@"
exit $?`

// node is a machine of a cluster: its host's directories and the images that it has.
type node struct {
	t      *testing.T
	host   string            // root of the host's directories
	images map[string]string // directories with bin and opt
	extra  []string          // volumes of every container, as in contain
}

// command returns a container's command, or an error if the kubelet would not start it.
func (n *node) command(p podSpec, c container, more ...string) (*exec.Cmd, error) {
	root, image := n.t.TempDir(), n.images[c.Image]
	if image == "" {
		return nil, errors.New(c.Image + ": no such image")
	}
	if err := os.Chmod(root, 0o755); err != nil {
		return nil, err
	}
	args := []string{"-c", contain, "contain", root,
		strconv.Itoa(c.SecurityContext.RunAsUser), strconv.Itoa(c.SecurityContext.RunAsGroup), image}
	for _, m := range c.VolumeMounts {
		for _, v := range p.Volumes {
			if v.Name != m.Name {
				continue
			}
			source := filepath.Join(n.host, v.HostPath.Path)
			if v.HostPath.Type == "DirectoryOrCreate" {
				if err := os.MkdirAll(source, 0o755); err != nil {
					return nil, err
				}
			}
			if info, err := os.Stat(source); err != nil || !info.IsDir() {
				return nil, errors.New(source + ": not a directory")
			}
			args = append(args, source, m.MountPath, map[bool]string{true: "ro", false: "rw"}[m.ReadOnly])
		}
	}
	args = append(append(args, n.extra...), "--")
	for _, e := range c.Env {
		args = append(args, e.Name+"="+e.Value)
	}
	cmd := exec.Command("sh", append(append(args, more...), c.Command...)...)
	cmd.SysProcAttr = namespaces()
	return cmd, nil
}

// namespaces returns the attributes of a process in mount and pid namespaces of its own,
// which end with this process.
func namespaces() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID, Pdeathsig: syscall.SIGKILL}
}

// run runs a container to its end and returns its output.
func (n *node) run(p podSpec, c container) string {
	n.t.Helper()
	cmd, err := n.command(p, c)
	if err != nil {
		n.t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		n.t.Fatalf("%s: %v: %s%s", c.Name, err, out, &stderr)
	}
	return string(out)
}

// start starts a container; it ends with the test.
func (n *node) start(cmd *exec.Cmd) (stderr io.Reader, kill func()) {
	n.t.Helper()
	stderr, err := cmd.StderrPipe()
	if err != nil {
		n.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	killed := false
	kill = func() {
		if !killed {
			killed = true
			_ = cmd.Process.Kill() // the first process, and with it the namespace
			_ = cmd.Wait()
		}
	}
	n.t.Cleanup(kill)
	return stderr, kill
}

// TestRealKubernetes runs the containers of kubernetes.yaml as their users, each in
// namespaces of its own with the volumes that the manifest mounts: the init container
// copies the library, the owner starts, and the pod's program joins it with its
// priority. When the program or the owner is killed, the other notices.
func TestRealKubernetes(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to run containers as their users")
	}
	try := exec.Command("sh", "-c", "mount --make-rprivate / && mount -t proc proc /proc")
	try.SysProcAttr = namespaces()
	if out, err := try.CombinedOutput(); err != nil {
		t.Skipf("cannot mount in a namespace here: %v: %s", err, out)
	}
	n := newNode(t)
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", "kubernetes.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var set, pod manifest
	d := yaml.NewDecoder(bytes.NewReader(text))
	if err := errors.Join(d.Decode(&set), d.Decode(&pod)); err != nil || set.Kind != "DaemonSet" || pod.Kind != "Pod" {
		t.Fatalf("%v: %s, %s", err, set.Kind, pod.Kind)
	}
	owners, own := set.Spec.Template.Spec, set.Spec.Template.Spec.Containers[0]
	port := strconv.Itoa(own.Ports[0].ContainerPort)
	at := slices.Index(own.Command, ":"+port)
	if at < 0 || set.Spec.Template.Metadata.Annotations["prometheus.io/port"] != port {
		t.Fatalf("port %s is not that of the command %q or of the annotation", port, own.Command)
	}
	own.Command[at] = "127.0.0.1:0" // this machine's ports are in use

	n.run(owners, owners.InitContainers[0])
	if info, err := os.Stat(filepath.Join(n.host, "opt/deft/libdeft.so")); err != nil || info.Size() == 0 {
		t.Fatalf("the init container copied no library: %v", err)
	}
	address, killOwner := n.owner(owners, own)
	list := func() (clients []daemon.Client) {
		c := own
		c.Command = []string{"deft", "ctl", "list", "--session", "cuda", "--json"}
		var s daemon.Status
		if out := n.run(owners, c); json.Unmarshal([]byte(out), &s) != nil || s.Policy != "priority" {
			t.Fatalf("%s", out)
		}
		return s.Clients
	}
	serve := pod.Spec.Containers[0]
	serve.Command = []string{"deft-workload", "--kernels", "100", "--kernel-ns", "50000", "--sleep-ms", "10", "--dur-s", "600"}
	cmd, err := n.command(pod.Spec.podSpec, serve, "SIMCUDA_DEVICE=/tmp/device", "LD_LIBRARY_PATH=/opt/sim")
	if err != nil {
		t.Fatal(err)
	}
	_, killPod := n.start(cmd)
	eventually(t, "the pod's program has joined", func() bool {
		all := list()
		return len(all) == 1 && all[0].Priority == 1 && all[0].Launches > 0
	})
	if text := scraped(t, address); !launchesOfWorkload.MatchString(text) {
		t.Errorf("metrics:\n%s", text)
	}

	killOwner()
	before := time.Now()
	address, _ = n.owner(owners, own) // the kubelet starts it again
	eventually(t, "the next owner has the pod's program", func() bool { return len(list()) == 1 })
	t.Logf("the next owner started after %v", time.Since(before))
	if text := scraped(t, address); !launchesOfWorkload.MatchString(text) {
		t.Errorf("metrics of the next owner:\n%s", text)
	}
	killPod()
	eventually(t, "the killed program has left", func() bool { return len(list()) == 0 })
}

// newNode returns a node whose IMAGE holds deft and the library, and whose SERVING holds
// a program for the simulated driver.
func newNode(t *testing.T) *node {
	t.Helper()
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("needs cc: install with apt-get install gcc libc6-dev")
	}
	n := &node{t: t, host: t.TempDir(), images: map[string]string{}}
	for _, image := range []string{"IMAGE", "SERVING"} {
		n.images[image] = t.TempDir()
		for _, dir := range []string{"bin", "opt/deft", "opt/sim"} {
			if err := os.MkdirAll(filepath.Join(n.images[image], dir), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	shm := filepath.Join(n.host, "dev/shm")
	if err := errors.Join(os.MkdirAll(shm, 0o755), os.Chmod(shm, 0o777|os.ModeSticky)); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", filepath.Join(n.images["IMAGE"], "bin", "deft"), "../../cmd/deft")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c := t.TempDir()
	lib, err := hook.Build(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	built, err := simcuda.Build(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{
		lib:            filepath.Join(n.images["IMAGE"], "opt/deft/libdeft.so"),
		built.Workload: filepath.Join(n.images["SERVING"], "bin/deft-workload"),
		built.Driver:   filepath.Join(n.images["SERVING"], "opt/sim/libcuda.so.1"),
	} {
		body, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(to, body, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// owner starts the owner, again while it ends as after an owner that was just killed,
// and returns the address of its metrics.
func (n *node) owner(p podSpec, c container) (address string, kill func()) {
	n.t.Helper()
	metrics := regexp.MustCompile(`http://(\S+)/metrics`)
	for end := time.Now().Add(patient); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		cmd, err := n.command(p, c)
		if err != nil {
			n.t.Fatal(err)
		}
		stderr, kill := n.start(cmd)
		var text strings.Builder
		for s := bufio.NewScanner(stderr); s.Scan(); {
			text.WriteString(s.Text() + "\n")
			if m := metrics.FindStringSubmatch(s.Text()); m != nil {
				go func() { _, _ = io.Copy(io.Discard, stderr) }()
				return m[1], kill
			}
		}
		kill()
		n.t.Logf("the owner ended: %s", &text)
	}
	n.t.Fatal("no owner started")
	return "", nil
}

// launchesOfWorkload matches the series of a program in the metrics.
var launchesOfWorkload = regexp.MustCompile(`deft_client_launches_total\{pid="\d+",program="deft-workload"\}`)

// scraped returns the metrics at an address.
func scraped(t *testing.T, address string) string {
	t.Helper()
	r, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// patient bounds waits that end when all is well.
const patient = 2 * time.Minute

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patient); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not so: ", what)
		}
	}
}

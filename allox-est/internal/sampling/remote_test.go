package sampling

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/journal"
)

// The answer to a request is the run, or the reason why there is none; the job it
// carries runs where it arrives.
func TestAnswer(t *testing.T) {
	request, err := json.Marshal(Request{Job: "command: [a, '{epochs}']\nepochs: 9\ndevices: {cpu: {threads: 2, ssh: b}}\n", Folder: "/x", Step: Step{Device: "cpu", Kind: journal.Sample, Epochs: 2}})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(text string, do func(context.Context, *Request) (*Reply, error)) (Reply, error) {
		in, asker := io.Pipe()
		defer asker.Close()
		go func() { _, _ = io.WriteString(asker, text) }()
		var out bytes.Buffer
		if err := Answer(t.Context(), in, &out, do); err != nil {
			return Reply{}, err
		}
		var reply Reply
		return reply, json.Unmarshal(out.Bytes(), &reply)
	}
	reply, err := ask(string(request)+"\n", func(_ context.Context, r *Request) (*Reply, error) {
		spec, err := r.Spec()
		if err != nil {
			return nil, err
		}
		if spec.Folder != "/x" || spec.Devices["cpu"] != (jobspec.Device{Threads: 2}) || NewRemote(spec, "cpu") != nil {
			t.Errorf("%+v", spec)
		}
		return &Reply{Run: &journal.Run{Job: "j", Epochs: r.Epochs}}, nil
	})
	if err != nil || reply.Run == nil || reply.Run.Epochs != 2 {
		t.Errorf("%+v, %v", reply, err)
	}
	reply, err = ask(string(request)+"\n", func(context.Context, *Request) (*Reply, error) { return nil, errors.New("no disk") })
	if err != nil || reply.Error != "no disk" {
		t.Errorf("%+v, %v", reply, err)
	}
	if _, err := ask("nonsense\n", nil); !errors.Is(err, ErrRemote) {
		t.Errorf("nonsense: %v", err)
	}
}

// A run ends when the asker goes away.
func TestAskerGone(t *testing.T) {
	in, asker := io.Pipe()
	go func() {
		_, _ = io.WriteString(asker, "{}\n")
		asker.Close()
	}()
	err := Answer(t.Context(), in, io.Discard, func(ctx context.Context, _ *Request) (*Reply, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	if err != nil {
		t.Error(err)
	}
}

// The command that reaches a machine.
func TestNew(t *testing.T) {
	for want, machine := range map[string]jobspec.Machine{
		"ssh -o BatchMode=yes n7 allox-est remote":                            {SSH: "n7"},
		"ssh -o BatchMode=yes n7 /opt/allox-est remote":                       {SSH: "n7", Program: "/opt/allox-est"},
		"srun --quiet --ntasks=1 --gpus=1 --constraint=v100 allox-est remote": {Slurm: "--gpus=1 --constraint=v100"},
	} {
		spec := &jobspec.Spec{Devices: map[string]jobspec.Device{"gpu": {Machine: machine}}}
		if got := NewRemote(spec, "gpu").String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	d := NewRemote(&jobspec.Spec{Devices: map[string]jobspec.Device{"gpu": {Machine: jobspec.Machine{Slurm: "-n1"}}}}, "gpu")
	if id, err := d.Identity(t.Context(), journal.Identity{Host: "here", Inputs: "x"}); err != nil || id != (journal.Identity{Host: "slurm -n1", Inputs: "x"}) || !strings.HasPrefix(d.String(), "srun") {
		t.Errorf("%+v, %v", id, err)
	}
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"go.yaml.in/yaml/v3"

	"github.com/foretime/foretime/mirage/slurm"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/crash"
)

// managed is one of several services: a script with its arguments, and flags of
// provision by their names, lists for those that may be repeated.
type managed struct {
	Script string               `yaml:"script"`
	Args   []string             `yaml:"args"`
	Flags  map[string]yaml.Node `yaml:",inline"`
}

// readChains reads a file of services.
func readChains(r io.Reader) ([]managed, error) {
	var file struct {
		Services []managed `yaml:"services"`
	}
	d := yaml.NewDecoder(r)
	d.KnownFields(true)
	if err := d.Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(file.Services) == 0 {
		return nil, errors.New("no services")
	}
	return file.Services, nil
}

// provision is what provision would be with the flags of a chain.
func (k *managed) provision(env *cli.Env) (*provision, error) {
	p, c := newProvision(env)
	for name, value := range k.Flags {
		var values []string
		if err := value.Decode(&values); err != nil {
			values = []string{value.Value}
		}
		for _, v := range values {
			if name == "chains" || name == "json" {
				return nil, fmt.Errorf("%s: not of one service", name)
			}
			if err := c.Flags().Set(name, v); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if p.state == "" {
		return nil, errors.New("no state: the folder of the chain")
	}
	args := k.Args
	if k.Script != "" {
		args = append([]string{k.Script}, args...)
	}
	p.name = p.state + ": "
	return p, p.settings(args)
}

// several keeps the services of a file going at once. One that fails does not end
// the others.
func several(ctx context.Context, env *cli.Env, path string) ([]slurm.Summary, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	chains, err := readChains(f)
	if err != nil {
		return nil, cli.Usagef("%s: %w", path, err)
	}
	provisions := make([]*provision, len(chains))
	states := map[string]bool{}
	for i := range chains {
		if provisions[i], err = chains[i].provision(env); err == nil && states[provisions[i].state] {
			err = fmt.Errorf("%s is the folder of another service too", provisions[i].state)
		}
		if err != nil {
			return nil, cli.Usagef("%s: service %d: %w", path, i+1, err)
		}
		states[provisions[i].state] = true
	}
	sums, errs := make([]slurm.Summary, len(chains)), make([]error, len(chains))
	var all crash.Group
	for i, p := range provisions {
		all.Go(func() error {
			if sums[i], errs[i] = p.keep(ctx); errs[i] != nil {
				errs[i] = fmt.Errorf("%s: %w", p.state, errs[i])
				env.Log.Warn(errs[i])
			}
			return nil
		})
	}
	return sums, errors.Join(all.Wait(), errors.Join(errs...))
}

package workload

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/foretime/foretime/shared/dataset"
)

// Parse reads a profile as [Profile.WriteTo] writes it and the workload
// program reads it: one line "COUNT NANOSECONDS" for each group of kernels, in
// launch order; # begins a comment. Name stands for the file in errors, which
// are [*dataset.SyntaxError] for a bad line.
func Parse(r io.Reader, name string) (Profile, error) {
	p := Profile{Model: name, Source: Given}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		g, err := group(fields)
		if err != nil {
			return Profile{}, &dataset.SyntaxError{File: name, Line: n, Msg: err.Error()}
		}
		p.Groups = append(p.Groups, g)
	}
	if err := lines.Err(); err != nil {
		return Profile{}, fmt.Errorf("workload: %s: %w", name, err)
	}
	if err := p.check(); err != nil {
		return Profile{}, err
	}
	return p, nil
}

func group(fields []string) (Group, error) {
	if len(fields) != 2 {
		return Group{}, fmt.Errorf("%d fields, want kernels and nanoseconds", len(fields))
	}
	kernels, err1 := strconv.ParseInt(fields[0], 10, 32)
	each, err2 := strconv.ParseInt(fields[1], 10, 64)
	if err := errors.Join(err1, err2); err != nil {
		return Group{}, err
	}
	if kernels < 1 || each < 1 {
		return Group{}, fmt.Errorf("%d kernels of %d ns, want at least 1 of each", kernels, each)
	}
	return Group{int(kernels), time.Duration(each)}, nil
}

// WriteTo writes the profile for [Parse] and for the workload program.
func (p Profile) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: kernels, nanoseconds of each\n", strings.Join(strings.Fields(p.Model), " "))
	for _, g := range p.Groups {
		fmt.Fprintf(&b, "%d %d\n", g.Kernels, g.Each.Nanoseconds())
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

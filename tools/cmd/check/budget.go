package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/foretime/foretime/tools/workspace"
)

const budgetFile = "tools/budget.txt"

// budget holds what a reader must carry in his head against a file whose numbers
// only fall.
func budget(ws *workspace.Workspace) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(ws.Root, filepath.FromSlash(budgetFile)))
	if err != nil {
		return nil, err
	}
	allowed, _, err := budgets(string(text))
	if err != nil {
		return nil, err
	}
	measured, err := measure(ws)
	if err != nil {
		return nil, err
	}
	return append(over(measured, allowed), raised(ws, string(text))...), nil
}

// over returns what is above its budget, or has none, or is no longer measured.
func over(measured, allowed map[string]int) []string {
	var findings []string
	for _, what := range slices.Sorted(maps.Keys(measured)) {
		if most, ok := allowed[what]; !ok {
			findings = append(findings, fmt.Sprintf("%s: no budget for %s, which is %d", budgetFile, what, measured[what]))
		} else if measured[what] > most {
			findings = append(findings, fmt.Sprintf("%s is %d, at most %d in %s", what, measured[what], most, budgetFile))
		}
	}
	for what := range allowed {
		if _, ok := measured[what]; !ok {
			findings = append(findings, fmt.Sprintf("%s: nothing is called %s", budgetFile, what))
		}
	}
	return findings
}

// raised returns the numbers that are higher than in the file's version before,
// without a word why behind them.
func raised(ws *workspace.Workspace, text string) []string {
	versions, err := command(ws.Root, nil, "git", "log", "-2", "--format=%H", "--", budgetFile)
	if err != nil || len(versions) == 0 {
		return nil // no history here
	}
	if now, err := command(ws.Root, nil, "git", "show", "HEAD:"+budgetFile); err != nil || strings.Join(now, "\n")+"\n" == text {
		versions = versions[1:]
	}
	if len(versions) == 0 {
		return nil
	}
	before, err := command(ws.Root, nil, "git", "show", versions[0]+":"+budgetFile)
	if err != nil {
		return nil
	}
	old, _, err := budgets(strings.Join(before, "\n"))
	if err != nil {
		return nil
	}
	now, why, _ := budgets(text)
	var findings []string
	for _, what := range slices.Sorted(maps.Keys(now)) {
		if most, ok := old[what]; ok && now[what] > most && why[what] == "" {
			findings = append(findings, fmt.Sprintf("%s: %s was raised from %d to %d without a reason behind it", budgetFile, what, most, now[what]))
		}
	}
	return findings
}

// budgets reads lines of a name of words and a number, with a reason behind # .
func budgets(text string) (most map[string]int, why map[string]string, err error) {
	most, why = map[string]int{}, map[string]string{}
	for i, line := range strings.Split(text, "\n") {
		line, reason, _ := strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		what := strings.Join(fields[:len(fields)-1], " ")
		if most[what], err = strconv.Atoi(fields[len(fields)-1]); err != nil {
			return nil, nil, fmt.Errorf("%s:%d: want a name and a number", budgetFile, i+1)
		}
		why[what] = strings.TrimSpace(reason)
	}
	return most, why, nil
}

// kits are for tests alone, whatever imports them.
var kits = regexp.MustCompile(`_test\.go$|/(slurmtest|promtest|simcudatest|coveragetest|scripttest)/`)

// measure counts lines of code by module, packages with code, lines of Markdown,
// and by tool the flags of its richest command (those of all commands apart) and
// the constants that its DESIGN.md lists.
func measure(ws *workspace.Workspace) (map[string]int, error) {
	found := map[string]int{}
	files, err := ws.GoFiles()
	if err != nil {
		return nil, err
	}
	packages := map[string]bool{}
	for _, path := range files {
		module, _, _ := strings.Cut(strings.TrimPrefix(path, ws.Root+string(filepath.Separator)), string(filepath.Separator))
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if kits.MatchString(filepath.ToSlash(path)) {
			continue
		}
		found["lines "+module] += bytes.Count(text, []byte("\n"))
		if filepath.Base(path) != "doc.go" {
			packages[filepath.Dir(path)] = true
		}
	}
	found["packages"] = len(packages)
	if found["markdown"], err = markdown(ws.Root); err != nil {
		return nil, err
	}
	for _, m := range ws.Modules {
		if _, err := os.Stat(filepath.Join(m.Dir, "cmd", m.Name)); err != nil {
			continue
		}
		program := filepath.Join(ws.Root, "out", "bin", m.Name)
		if out, err := command(ws.Root, nil, "go", "build", "-o", program, "./"+m.Name+"/cmd/"+m.Name); err != nil || len(out) > 0 {
			return nil, fmt.Errorf("go build %s: %s: %w", m.Name, strings.Join(out, "; "), err)
		}
		if found["flags "+m.Name], err = richest(program); err != nil {
			return nil, err
		}
		if found["constants "+m.Name], err = constants(filepath.Join(m.Dir, "DESIGN.md")); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func markdown(root string) (lines int, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "out" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != root):
			return fs.SkipDir
		case filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		lines += bytes.Count(text, []byte("\n"))
		return err
	})
	return lines, err
}

var (
	flagLine    = regexp.MustCompile(`^ +(?:-\w, |    )--`)
	commandLine = regexp.MustCompile(`^  (\S+) `)
)

// richest is the most flags of a command of the program, read from its help;
// --help and those of all commands do not count.
func richest(program string, words ...string) (most int, err error) {
	out, err := command("", nil, program, append(slices.Clone(words), "-h")...)
	if err != nil {
		return 0, err
	}
	part := ""
	for _, line := range out {
		switch m := commandLine.FindStringSubmatch(line); {
		case strings.HasSuffix(line, ":") && !strings.HasPrefix(line, " "):
			part = strings.TrimSuffix(line, ":")
		case strings.HasSuffix(strings.ToLower(part), "flags") && part != "Global Flags" && flagLine.MatchString(line) && !strings.Contains(line, "--help"):
			most++
		case part == "Available Commands" && m != nil && m[1] != "help":
			defer func(name string) {
				n, subErr := richest(program, append(slices.Clone(words), name)...)
				if most = max(most, n); subErr != nil {
					err = subErr
				}
			}(m[1])
		}
	}
	return most, nil
}

// constants counts the rows of the table below "## Constants".
func constants(file string) (rows int, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	_, table, _ := strings.Cut(string(text), "\n## Constants\n")
	table, _, _ = strings.Cut(table, "\n## ")
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "|") {
			rows++
		}
	}
	return max(0, rows-2), nil
}

package sampling

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// patience is how long another machine may take to end a run that is not wanted
// any more.
const patience = 20 * time.Second

// converse runs a command, hands it a request and returns what it prints. Its
// standard input ends with ctx.
func converse(ctx context.Context, argv []string, request []byte) ([]byte, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	cmd.Cancel, cmd.WaitDelay = in.Close, patience
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRemote, err)
	}
	_, _ = in.Write(request) // where it has ended there is nobody to ask
	err = cmd.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w: %s", ErrRemote, strings.Join(argv, " "), err, strings.Join(strings.Fields(stderr.String()), " "))
	}
	return out.Bytes(), nil
}

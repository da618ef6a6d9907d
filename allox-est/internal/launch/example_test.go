package launch_test

import (
	"context"
	"fmt"
	"os"

	"github.com/foretime/foretime/allox-est/internal/launch"
)

// A job that reports its laps: set-up, two epochs, teardown.
func Example() {
	r := launch.New(launch.Settings{})
	result, err := r.Run(context.Background(), launch.Command{
		Args: []string{"echo", "<TIME_WRITTER_OUTPUT>[0.5, 2.0, 2.1, 0.2]</TIME_WRITTER_OUTPUT>"},
		Env:  os.Environ(),
	})
	if err != nil {
		fmt.Println(err) // it could not be started
		return
	}
	if result.Err != nil {
		fmt.Println(result.Err) // it failed: exit code, signal, timeout
		return
	}
	laps, _, err := result.Output()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(laps.Laps())
	// Output: [0.5 2 2.1 0.2]
}

package cli

import (
	"context"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/foretime/foretime/edgeprof/internal/device"
)

// local returns the source that lists only the machine this command runs on.
func local(root fs.FS) (device.Source, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	return device.Local{Root: root, Host: host, Sleep: device.Sleep, Disk: rootUsage, Probe: &device.Probe{Window: 200 * time.Millisecond, MaxAge: 5 * time.Second}}, nil
}

// thisMachine returns the machine this command runs on, with its load now.
func thisMachine(ctx context.Context, root fs.FS) (device.Device, error) {
	source, err := local(root)
	if err != nil {
		return device.Device{}, err
	}
	devices, _, err := source.Devices(ctx)
	if err != nil {
		return device.Device{}, err
	}
	return devices[0], nil
}

// rootUsage returns the used share of the root file system in percent, computed as df
// does.
func rootUsage() (float64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs("/", &s); err != nil {
		return 0, err
	}
	used := float64(s.Blocks - s.Bfree)
	if used+float64(s.Bavail) == 0 {
		return 0, nil
	}
	return 100 * used / (used + float64(s.Bavail)), nil
}

// mostTasks returns the number of processors that other work uses now, or used when a device was
// read, whichever is more; nil if one of them is unknown.
func mostTasks(ctx context.Context, root fs.FS, before *device.Device) (*float64, error) {
	now, err := thisMachine(ctx, root)
	if err != nil || before.Load.ProbedTasks == nil || now.Load.ProbedTasks == nil {
		return nil, err
	}
	most := max(*before.Load.ProbedTasks, *now.Load.ProbedTasks)
	return &most, nil
}

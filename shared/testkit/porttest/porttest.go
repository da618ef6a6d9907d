// Package porttest gives tests ports of the loopback address.
package porttest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
)

// The tests of a process take ports one after another, from a random one up. They stay
// below the range from which Linux assigns ports, which may be taken a moment after they
// were found free.
const firstPort, endPort = 10000, 32000

var nextPort = func() *atomic.Int64 {
	var n atomic.Int64
	n.Store(rand.Int64N(endPort - firstPort))
	return &n
}()

// Free returns a port of the loopback address that nothing listens at, each once in
// this process.
func Free(t testing.TB) int {
	t.Helper()
	for {
		port := firstPort + int(nextPort.Add(1))%(endPort-firstPort)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
		return port
	}
}

package cli

import (
	"container/list"
	"io"
	"net"
	"net/http"
	"testing"
)

// TestWaiting checks that the longest-waiting connection is closed, and not one
// that is being answered.
func TestWaiting(t *testing.T) {
	w := &waiting{most: 2, at: map[net.Conn]*list.Element{}}
	var server, client [5]net.Conn
	for i := range server {
		server[i], client[i] = net.Pipe()
		w.state(server[i], http.StateNew)
		if i == 0 {
			w.state(server[i], http.StateActive)
		}
	}
	w.state(server[3], http.StateClosed)
	w.state(server[0], http.StateIdle)
	for i, open := range []bool{true, false, false, true, true} {
		go func() { _, _ = server[i].Write([]byte("x")); server[i].Close() }()
		if text, _ := io.ReadAll(client[i]); (len(text) == 1) != open {
			t.Errorf("connection %d sent %q", i, text)
		}
	}
	if w.order.Len() != 2 || len(w.at) != 2 {
		t.Errorf("%d and %d are remembered", w.order.Len(), len(w.at))
	}
}

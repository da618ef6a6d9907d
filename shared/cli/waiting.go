package cli

import (
	"container/list"
	"net"
	"net/http"
	"sync"
)

// waiting holds the connections on which a server waits for its client: for the
// rest of a request's headers, or for the next request. If there are more than
// most, the one that has waited longest is closed. Clients that only open
// connections therefore cannot lock others out or use more memory than this.
type waiting struct {
	most  int
	mutex sync.Mutex
	order list.List // of net.Conn, longest first
	at    map[net.Conn]*list.Element
}

// state notes the new state of a connection: it is called as the ConnState of an http.Server.
func (w *waiting) state(c net.Conn, s http.ConnState) {
	if oldest := w.setWaiting(c, s == http.StateNew || s == http.StateIdle); oldest != nil {
		_ = oldest.Close()
	}
}

// setWaiting records whether a connection waits, and returns the one to close.
func (w *waiting) setWaiting(c net.Conn, waits bool) net.Conn {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.remove(c)
	if !waits {
		return nil
	}
	w.at[c] = w.order.PushBack(c)
	if w.order.Len() <= w.most {
		return nil
	}
	oldest := w.order.Front().Value.(net.Conn)
	w.remove(oldest)
	return oldest
}

func (w *waiting) remove(c net.Conn) {
	if e, ok := w.at[c]; ok {
		w.order.Remove(e)
		delete(w.at, c)
	}
}

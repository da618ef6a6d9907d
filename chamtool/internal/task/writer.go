package task

import (
	"io"
	"math"
	"strconv"
	"strings"
)

// LogHeader is the first line of a log in the CSV layout.
const LogHeader = "iteration,lane,flag,entry,sizes,core,mhz,start_seconds,queue_seconds,seconds,predicted_seconds,low_seconds,high_seconds\n"

// Writer writes rows into a buffer and hands it on when it is flushed. It is
// made for one row in some hundred nanoseconds.
type Writer struct {
	out          io.Writer
	format       Format
	buf          []byte
	failed       error
	written      int // bytes
	lost         int // rows that could not be written
	limit        int // bytes; 0 is none
	full         bool
	bufferedRows int // rows in buf, whole or in part
}

// writeBlock is the number of bytes written at once: few enough to be in the caches still, and
// a multiple of the file's blocks, which the kernel takes in one piece.
const writeBlock = 1 << 16

// NewWriter returns a writer to out in FormatCSV or FormatTab.
func NewWriter(out io.Writer, format Format) *Writer {
	w := &Writer{out: out, format: format, buf: make([]byte, 0, writeBlock+writeBlock/16)}
	if format == FormatCSV {
		w.buf = append(w.buf, LogHeader...)
	}
	return w
}

// SetLimit bounds what is written to a number of bytes; 0 is no bound.
func (w *Writer) SetLimit(bytes int) { w.limit = bytes }

// Texts are the parts of a row as they are written, which the caller makes once
// for many rows.
type Texts struct {
	Entry     []byte // [EntryText]
	Sizes     []byte // [SizesText] of the layout
	Predicted []byte // [PredictedText]; only the CSV layout has it
}

// Add writes a row. It returns false for a row beyond the limit, and for every later one.
func (w *Writer) Add(r *Row, t *Texts) bool {
	if w.full = w.full || w.limit > 0 && w.written+len(w.buf) >= w.limit; w.full {
		return false
	}
	if w.failed != nil {
		w.lost++
		return true
	}
	if w.format == FormatCSV {
		w.csv(r, t)
	} else {
		w.tab(r, t.Sizes)
	}
	w.bufferedRows++
	if n := writeBlock - w.written%writeBlock; len(w.buf) >= n {
		w.write(n)
	}
	return true
}

func (w *Writer) csv(r *Row, t *Texts) {
	b := strconv.AppendInt(w.buf, int64(r.Iteration), 10)
	b = strconv.AppendInt(append(b, ','), int64(r.Lane), 10)
	b = append(append(b, ','), r.Flag...)
	b = append(append(b, ','), t.Entry...)
	b = append(append(b, ','), t.Sizes...)
	b = strconv.AppendInt(append(b, ','), int64(r.Core), 10)
	b = append(b, ',')
	if r.MHz != nil {
		b = strconv.AppendFloat(b, *r.MHz, 'f', -1, 64)
	}
	b = appendSeconds(append(b, ','), r.Start)
	b = appendOptional(append(b, ','), r.Queue)
	b = appendSeconds(append(b, ','), r.Seconds)
	b = append(append(b, ','), t.Predicted...)
	w.buf = append(b, '\n')
}

func (w *Writer) tab(r *Row, sizes []byte) {
	b := strconv.AppendUint(w.buf, r.Task, 10)
	b = append(append(b, '\t'), sizes...)
	b = appendMicro(append(b, '\t'), value(r.MHz))
	b = appendMicro(append(b, '\t'), r.Seconds)
	b = appendMicro(append(b, '\t'), value(r.Predicted))
	w.buf = append(b, '\n')
}

// Iteration writes the load of an iteration in the Tab layout, where those
// lines follow the tasks; the CSV layout has none.
func (w *Writer) Iteration(seconds, predicted float64) {
	if w.format != FormatTab || w.failed != nil {
		return
	}
	b := appendMicro(w.buf, seconds)
	b = appendMicro(append(b, '\t'), predicted)
	w.buf = append(b, '\n')
}

// Flush hands what is buffered on. After the first error nothing more is
// written, every later row is counted as lost, and Flush returns nil.
func (w *Writer) Flush() error {
	if w.failed != nil || len(w.buf) == 0 {
		return nil
	}
	w.write(len(w.buf))
	return w.failed
}

// write hands the first n bytes on.
func (w *Writer) write(n int) {
	_, w.failed = w.out.Write(w.buf[:n])
	if w.failed != nil {
		w.lost += w.bufferedRows
		n = len(w.buf)
	}
	w.written += n
	w.buf = w.buf[:copy(w.buf, w.buf[n:])]
	w.bufferedRows = min(1, len(w.buf)) // what is left is the end of a row
}

// Lost returns the number of rows that could not be written.
func (w *Writer) Lost() int { return w.lost }

// EntryText returns an entry's name as the CSV layout holds it.
func EntryText(name string) []byte {
	if strings.ContainsAny(name, ",\"\r\n") {
		name = `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	}
	return []byte(name)
}

// PredictedText appends what was predicted before the task started, and its
// interval, as the CSV layout holds them.
func PredictedText(b []byte, r *Row) []byte {
	b = appendOptional(b, r.Predicted)
	b = appendOptional(append(b, ','), r.Low)
	return appendOptional(append(b, ','), r.High)
}

// SizesText returns a task's sizes as the format holds them.
func SizesText(sizes []int64, format Format) []byte {
	b := Sizes(sizes).AppendText(nil)
	if format == FormatTab {
		for i := range b {
			if b[i] == ' ' {
				b[i] = '\t'
			}
		}
	}
	return b
}

func value(p *float64) float64 {
	if p == nil {
		return 0
	}
	return *p
}

func appendOptional(b []byte, p *float64) []byte {
	if p == nil {
		return b
	}
	return appendSeconds(b, *p)
}

// appendSeconds writes a number with nine decimals, a nanosecond.
func appendSeconds(b []byte, x float64) []byte {
	if !(x >= 0 && x < 1e6) {
		return appendOdd(b, x, 9)
	}
	return appendFixed(b, uint64(x*1e9+0.5), 1e9)
}

// appendMicro writes a number as %f does.
func appendMicro(b []byte, x float64) []byte {
	if !(x >= 0 && x < 1e6) {
		return appendOdd(b, x, 6)
	}
	return appendFixed(b, uint64(x*1e6+0.5), 1e6)
}

// appendFixed writes a number of units, of which one is the whole, as a decimal number.
func appendFixed(b []byte, n, one uint64) []byte {
	b = strconv.AppendUint(b, n/one, 10)
	point := len(b)
	b = strconv.AppendUint(b, one+n%one, 10) // the digit in front keeps the zeros behind it
	b[point] = '.'
	return b
}

// appendOdd formats numbers that are too large for 64 bits, and numbers that no run has.
func appendOdd(b []byte, x float64, digits int) []byte {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		x = 0
	}
	return strconv.AppendFloat(b, x, 'f', digits, 64)
}

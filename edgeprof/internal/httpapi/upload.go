package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
)

// Causes of refusals of this package.
var (
	errTooLarge  = errors.New("too large")
	errMedia     = errors.New("unsupported media type")
	errBusy      = errors.New("too many uploads at once")
	errParameter = errors.New("bad parameter")
	errBroken    = errors.New("the body is incomplete")
)

// uploaded is a model that came with a request.
type uploaded struct {
	analysis *onnx.Analysis
	name     string   // of its file, without a directory; "" where none was given
	file     *os.File // the whole model, if it could not be read as it came
	service  *Service
	control  *http.ResponseController // of the connection
	form     *multipart.Reader        // nil for a body that is the model
	settings onnx.Settings
}

// close forgets the model and makes room for another upload.
func (u *uploaded) close() {
	<-u.service.uploads
	u.forget()
}

// forget frees the file and the analysis, and makes room for another one.
func (u *uploaded) forget() {
	if u.analysis != nil {
		u.analysis = nil
		<-u.service.judging
	}
	if u.file != nil {
		u.file.Close()
		u.file = nil
	}
}

// analyze judges the model when no other is being judged: that takes several times the memory
// of the graph.
func (u *uploaded) analyze(ctx context.Context, m *onnx.Model) error {
	_ = u.control.SetReadDeadline(time.Time{}) // nothing is waited for
	select {
	case u.service.judging <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("%w: others are being judged", errBusy)
	}
	analysis, err := onnx.Analyze(m, u.settings)
	if err != nil {
		<-u.service.judging
		return err
	}
	u.analysis = analysis
	return nil
}

// upload reads the model that a request carries: as the body, or as the part
// "file" of a form. A body of known length is read as it comes and never kept.
// The number of uploads that are not closed bounds the memory of all.
func (s *Service) upload(w http.ResponseWriter, r *http.Request) (*uploaded, error) {
	select {
	case s.uploads <- struct{}{}:
	default:
		return nil, fmt.Errorf("%w: %d are running", errBusy, cap(s.uploads))
	}
	u := &uploaded{name: r.URL.Query().Get("name"), service: s, control: http.NewResponseController(w)}
	begin := s.Now()
	until := begin.Add(s.UploadTimeout)
	_ = u.control.SetWriteDeadline(until.Add(time.Minute)) // servers without deadlines have none to extend
	body := received{&paced{
		body: http.MaxBytesReader(w, r.Body, s.MaxModelBytes), deadline: u.control.SetReadDeadline, now: s.Now, begin: begin, until: until,
	}}
	if err := s.receive(r, u, body); err != nil {
		if r.ContentLength <= mostDiscarded {
			_, _ = io.CopyN(io.Discard, body, r.ContentLength)
		}
		u.close()
		return nil, broken(err)
	}
	return u, nil
}

// mostDiscarded is the length of a refused body that is still read, since clients often read no
// answer before they have sent all.
const mostDiscarded = 64 << 20

func (s *Service) receive(r *http.Request, u *uploaded, body io.Reader) error {
	var err error
	query := r.URL.Query()
	if u.settings, err = onnx.ParseSizes(query["dim"]); err != nil {
		return err
	}
	if err := u.settings.ParseValues(query["size"]); err != nil {
		return err
	}
	if r.ContentLength > s.MaxModelBytes {
		return fmt.Errorf("%w: %d bytes, at most %d", errTooLarge, r.ContentLength, s.MaxModelBytes)
	}
	size := r.ContentLength
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case kind == "multipart/form-data":
		r.Body = io.NopCloser(body)
		if u.form, err = r.MultipartReader(); err != nil {
			return fmt.Errorf("%w: %w", errMedia, err)
		}
		if err := s.next(r.Context(), u); errors.Is(err, io.EOF) {
			return fmt.Errorf("%w: the form has no part %q", errParameter, "file")
		} else {
			return err
		}
	case kind == "application/json" || strings.HasPrefix(kind, "text/"):
		return fmt.Errorf("%w: %s, want the bytes of an ONNX model", errMedia, kind)
	}
	var m *onnx.Model
	if size < 0 {
		m, err = s.spool(u, body)
	} else {
		m, err = stream(body, size, s.MaxGraphBytes)
	}
	if err != nil {
		return err
	}
	return u.analyze(r.Context(), m)
}

// next reads the next model of a form in place of the one before; [io.EOF] says
// that there is none.
func (s *Service) next(ctx context.Context, u *uploaded) error {
	u.forget()
	if u.form == nil {
		return io.EOF
	}
	p, err := u.form.NextPart()
	for ; err == nil && p.FormName() != "file"; p, err = u.form.NextPart() {
	}
	switch {
	case errors.Is(err, io.EOF):
		return io.EOF
	case err != nil:
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	u.name = p.FileName()
	m, err := s.spool(u, p)
	if err != nil {
		return broken(err)
	}
	return u.analyze(ctx, m)
}

// broken distinguishes a body beyond the limit from one that ended early.
func broken(err error) error {
	var long *http.MaxBytesError
	switch {
	case errors.Is(err, errBroken):
		return err
	case errors.As(err, &long):
		return fmt.Errorf("%w: more than %d bytes", errTooLarge, long.Limit)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	return err
}

// received is the body of a request. What is wrong with reading it is the client's fault.
type received struct{ io.Reader }

func (r received) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err == nil || err == io.EOF { // a reader's end is not wrapped
		return n, err
	}
	var long *http.MaxBytesError
	if !errors.As(err, &long) {
		err = fmt.Errorf("%w: %w", errBroken, err)
	}
	return n, err
}

// stream reads a model as it comes, to the end of the body.
func stream(body io.Reader, size, most int64) (*onnx.Model, error) {
	counted := &io.LimitedReader{R: body, N: size + 1}
	m, err := onnx.ReadLimited(counted, size, most)
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(io.Discard, counted); err != nil {
		return nil, err
	}
	if counted.N != 1 {
		return nil, fmt.Errorf("%w: %d of %d bytes", errBroken, size+1-counted.N, size)
	}
	return m, nil
}

// spool writes a model to a file without a name, which ends with this process however that
// ends, and reads it from there.
func (s *Service) spool(u *uploaded, body io.Reader) (*onnx.Model, error) {
	var err error
	if u.file, err = os.CreateTemp(s.Directory, "upload-*.onnx"); err != nil {
		return nil, err
	}
	if err := os.Remove(u.file.Name()); err != nil {
		return nil, err
	}
	size, err := io.Copy(u.file, body)
	if err != nil {
		return nil, err
	}
	if _, err := u.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return onnx.ReadLimited(u.file, size, s.MaxGraphBytes)
}

package timing

import (
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const o, c = OpenTag, CloseTag

func TestParseOutput(t *testing.T) {
	tests := []struct {
		name     string
		log      string
		choice   Choice
		want     []float64
		err      error
		warnings []error
	}{
		// The example of the protocol's published description.
		{name: "published", log: o + "[13.973396399989724, 8.200004231184721e-06, 2.094237900004373]" + c,
			want: []float64{13.973396399989724, 8.200004231184721e-06, 2.094237900004373}},
		{name: "nothing", log: "", err: ErrNoTag},
		{name: "no tag", log: "loss 0.5\n[1.0, 2.0]\n", err: ErrNoTag},
		{name: "empty list", log: o + "[]" + c, want: []float64{}},
		{name: "one lap", log: o + "[1.5]" + c, want: []float64{1.5}},
		{name: "no spaces", log: o + "[1,2,3]" + c, want: []float64{1, 2, 3}},
		{name: "newline after comma", log: o + "[1.0,\n2.0,\r\n\t3.0 ]\n" + c, want: []float64{1, 2, 3}},
		{name: "laps of no time", log: o + "[0, 0.5,0]" + c, want: []float64{0, 0.5, 0}},
		{name: "spaces", log: o + " [ 1.0 , 2.0 ] " + c, want: []float64{1, 2}},
		{name: "exponents", log: o + "[1e-05, 1E3, 2.5e+1]" + c, want: []float64{1e-5, 1000, 25}},
		{name: "among output", log: "Epoch 1 <b> </TIME\n<<TIME_" + o + "[1.0, 2.0]" + c + "bye\n", want: []float64{1, 2}},
		{name: "false starts", log: "<TIME_<TIME_WRITTER_OUTPU<" + o[1:] + "[1.0]" + c, want: []float64{1}},

		{name: "growing", log: o + "[1.0]" + c + "\n" + o + "[1.0, 2.0]" + c + o + "[1.0, 2.0, 3.0]" + c, want: []float64{1, 2, 3}},
		{name: "repeated", log: o + "[1.0, 2.0]" + c + o + "[1.0, 2.0]" + c, want: []float64{1, 2}},
		{name: "forged second", log: o + "[1.0, 2.0, 3.0]" + c + o + "[9.0, 2.0, 3.0]" + c, err: ErrContradiction},
		{name: "shorter second", log: o + "[1.0, 2.0, 3.0]" + c + o + "[1.0, 2.0]" + c, err: ErrContradiction},
		{name: "forged second, last", choice: Last, log: o + "[1.0, 2.0]" + c + o + "[9.0]" + c, want: []float64{9}},
		{name: "forged second, longest", choice: Longest, log: o + "[1.0, 2.0]" + c + o + "[9.0]" + c, want: []float64{1, 2}},
		{name: "contradiction stays", log: o + "[1.0]" + c + o + "[2.0]" + c + o + "[1.0, 2.0]" + c, err: ErrContradiction},
		{name: "torn forged second", log: o + "[1.0]" + c + o + "[2.0, 3.", want: []float64{1}, warnings: []error{ErrTruncated}},

		{name: "torn only", log: o + "[1.0, 2.", err: ErrTruncated},
		{name: "torn tag only", log: "<TIME_WRITTER_OUT", err: ErrNoTag},
		{name: "torn close", log: o + "[1.0, 2.0]</TIME_WRITTER", err: ErrTruncated},
		{name: "torn last", log: o + "[1.0, 2.0]" + c + o + "[1.0, 2.0, 3.", want: []float64{1, 2}, warnings: []error{ErrTruncated}},
		{name: "torn, then whole", log: o + "[1.0, 2." + o + "[1.0, 2.5, 3.0]" + c, want: []float64{1, 2.5, 3}, warnings: []error{ErrTruncated}},
		{name: "torn last, last", choice: Last, log: o + "[1.0, 2.0]" + c + o + "[1.0, 2.0, 3.", want: []float64{1, 2}, warnings: []error{ErrTruncated}},
		{name: "nested", log: o + "[1.0, " + o + "[2.0]" + c + "]" + c, want: []float64{2}, warnings: []error{ErrTruncated}},
		{name: "close before open", log: c + "[1.0]" + o, err: ErrTruncated},
		{name: "close before a whole one", log: c + o + "[1.0]" + c, want: []float64{1}},

		{name: "unterminated list", log: o + "[1.0, 2.0" + c, err: ErrBadValue},
		{name: "trailing comma", log: o + "[1.0,]" + c, err: ErrBadValue},
		{name: "no list", log: o + c, err: ErrBadValue},
		{name: "log line inside", log: o + "[1.0, WARNING: slow\n2.0]" + c, err: ErrBadValue},
		{name: "nan", log: o + "[1.0, nan]" + c, err: ErrBadValue},
		{name: "inf", log: o + "[inf]" + c, err: ErrBadValue},
		{name: "overflow", log: o + "[1e999]" + c, err: ErrBadValue},
		{name: "negative", log: o + "[-1.0]" + c, err: ErrBadValue},
		{name: "negative zero", log: o + "[-0.0]" + c, err: ErrBadValue},
		{name: "underscore", log: o + "[1_0]" + c, err: ErrBadValue},
		{name: "hex", log: o + "[0x1p4]" + c, err: ErrBadValue},
		{name: "cut fraction", log: o + "[2.]" + c, err: ErrBadValue},
		{name: "two dots", log: o + "[1.2.3]" + c, err: ErrBadValue},
		{name: "leading zeros", log: o + "[007]" + c, err: ErrBadValue},
		{name: "a leading zero", log: o + "[09.5]" + c, err: ErrBadValue},
		{name: "two leading zeros", log: o + "[00]" + c, err: ErrBadValue},
		{name: "cut fraction before an exponent", log: o + "[2.e5]" + c, err: ErrBadValue},
		{name: "two numbers", log: o + "[1.0 2.0]" + c, err: ErrBadValue},
		{name: "endless number", log: o + "[" + strings.Repeat("1", 100) + "]" + c, err: ErrBadValue},
		{name: "two lists", log: o + "[1.0][2.0]" + c, err: ErrBadValue},
		{name: "binary", log: o + "\x00\xff" + c, err: ErrBadValue},
		{name: "bad, then good", log: o + "[nan]" + c + o + "[1.0]" + c, err: ErrBadValue},
		{name: "bad, then good, last", choice: Last, log: o + "[nan]" + c + o + "[1.0]" + c, want: []float64{1}},
		{name: "good, then bad, last", choice: Last, log: o + "[1.0]" + c + o + "[nan]" + c, err: ErrBadValue},
		{name: "good, then bad, longest", choice: Longest, log: o + "[1.0]" + c + o + "[nan]" + c, want: []float64{1}, warnings: []error{ErrBadValue}},
		{name: "stray less-than", log: o + "[1.0 < 2.0]" + c, err: ErrBadValue},
		{name: "less-than, open", log: o + "[1.0 <" + o + "[2.0]" + c, want: []float64{2}, warnings: []error{ErrTruncated}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1, 7, 1 << 20} {
				p := Parser{Choice: tt.choice}
				for b := []byte(tt.log); len(b) > 0; {
					n := min(size, len(b))
					p.Write(b[:n])
					b = b[n:]
				}
				out, err := p.Output()
				if !errors.Is(err, tt.err) {
					t.Fatalf("in pieces of %d: error %v, want %v", size, err, tt.err)
				}
				if tt.err != nil {
					if place := (*ParseError)(nil); !errors.As(err, &place) {
						t.Fatalf("error %v has no place", err)
					}
					continue
				}
				if diff := cmp.Diff(tt.want, out.Laps()); diff != "" {
					t.Errorf("in pieces of %d: laps (-want +got):\n%s", size, diff)
				}
				if len(out.Warnings) != len(tt.warnings) {
					t.Fatalf("warnings %v, want %v", out.Warnings, tt.warnings)
				}
				for i, w := range tt.warnings {
					if !errors.Is(out.Warnings[i], w) {
						t.Errorf("warning %v, want %v", out.Warnings[i], w)
					}
				}
			}
		})
	}
}

func TestParseErrorPlace(t *testing.T) {
	_, err := ParseOutput(strings.NewReader("abc"+o+"[1.0]"+c+"\n"+o+"[1.0, x]"+c), Extend)
	var place *ParseError
	if !errors.As(err, &place) || place.Offset != int64(len("abc"+o+"[1.0]"+c+"\n")) || place.Report != 2 {
		t.Fatalf("got %#v", place)
	}
	if want := `report 2 at byte 52: not a list of finite times: lap 1 begins with 'x'`; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

func TestOutputLine(t *testing.T) {
	tests := []struct {
		laps             []float64
		intercept, slope float64
		ok               bool
		total            float64
	}{
		{nil, 0, 0, false, 0},
		{[]float64{2}, 2, 0, false, 2},
		{[]float64{2, 3}, 5, 0, false, 5},
		// The published example: 13.9733964 + 2.0942379 s and one epoch of 8.2 us.
		{[]float64{13.973396399989724, 8.200004231184721e-06, 2.094237900004373}, 16.067634299994097, 8.200004231184721e-06, true, 16.067642499998328},
		{[]float64{1, 2, 4, 6, 10}, 11, 4, true, 23},
	}
	for _, tt := range tests {
		out, err := ParseOutput(strings.NewReader(o+string(AppendReprList(nil, tt.laps))+c), Extend)
		if err != nil {
			t.Fatal(err)
		}
		intercept, slope, ok := out.Line()
		if intercept != tt.intercept || slope != tt.slope || ok != tt.ok || !(math.Abs(out.Total()-tt.total) <= 1e-12) {
			t.Errorf("%v: got %v %v %v %v", tt.laps, intercept, slope, ok, out.Total())
		}
	}
}

// TestParseLongReports covers a job that prints its whole list at every epoch, and
// one whose single line holds 30,002 laps: more than a default line scanner
// accepts.
func TestParseLongReports(t *testing.T) {
	laps := make([]float64, 30002)
	for i := range laps {
		laps[i] = float64(i%97) / 7
	}
	var log strings.Builder
	for k := 2; k < 600; k++ {
		log.WriteString(o + string(AppendReprList(nil, laps[:k])) + c + "\n")
	}
	log.WriteString(o + string(AppendReprList(nil, laps)) + c + "\n")
	out, err := ParseOutput(strings.NewReader(log.String()), Extend)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(out.Laps(), laps) {
		t.Error("laps differ")
	}
}

func TestParseReaderError(t *testing.T) {
	if _, err := ParseOutput(io.MultiReader(strings.NewReader(o), failing{}), Extend); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// FuzzParser checks that no log causes a panic, that cutting the log into pieces
// changes nothing, and that the parsed laps, printed again, parse to the same.
func FuzzParser(f *testing.F) {
	for _, log := range []string{"", o + "[1.0, 2.5e-06]" + c, o + "[1.0, 2." + o + "[]" + c, o + "[nan]" + c, o + "[1]" + c + o + "[2]" + c, "<<TIME" + o + "<" + c} {
		for choice := range 3 {
			f.Add([]byte(log), uint8(3), uint8(choice))
		}
	}
	f.Fuzz(func(t *testing.T, log []byte, size, choice uint8) {
		whole := Parser{Choice: Choice(choice % 3)}
		whole.Write(log)
		want, wantErr := whole.Output()
		pieces := Parser{Choice: whole.Choice}
		for piece := range slices.Chunk(log, int(size)+1) {
			pieces.Write(piece)
		}
		got, gotErr := pieces.Output()
		if (gotErr == nil) != (wantErr == nil) || gotErr != nil && gotErr.Error() != wantErr.Error() {
			t.Fatalf("in pieces: %v, whole: %v", gotErr, wantErr)
		}
		if wantErr != nil {
			return
		}
		if !slices.Equal(got.Laps(), want.Laps()) {
			t.Fatalf("in pieces: %v, whole: %v", got.Laps(), want.Laps())
		}
		again, err := ParseOutput(strings.NewReader(o+string(AppendReprList(nil, want.Laps()))+c), Extend)
		if err != nil || !slices.Equal(again.Laps(), want.Laps()) {
			t.Fatalf("printed again: %v, %v", again, err)
		}
	})
}

// BenchmarkParser reads a log of one report on a single line, a log of many
// growing reports, and a log that is mostly other output.
func BenchmarkParser(b *testing.B) {
	laps := make([]float64, 1<<16)
	for i := range laps {
		laps[i] = 0.1 + float64(i%977)/7919
	}
	var growing strings.Builder
	for k := 2; k < 400; k++ {
		growing.WriteString(o + string(AppendReprList(nil, laps[:k])) + c + "\n")
	}
	for name, log := range map[string]string{
		"one-line": o + string(AppendReprList(nil, laps)) + c,
		"growing":  growing.String(),
		"other":    strings.Repeat("step 100 loss 0.25 accuracy 0.93 <eta 3s>\n", 1<<15) + o + "[1.0, 2.0, 3.0]" + c,
	} {
		b.Run("log="+name, func(b *testing.B) {
			b.SetBytes(int64(len(log)))
			for b.Loop() {
				if _, err := ParseOutput(strings.NewReader(log), Extend); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

//go:build noparquet

package dataset

import "io"

func openParquet(io.Reader, layout, Options) (source, []string, error) {
	return nil, nil, ErrNoParquet
}

func newParquetSink(io.Writer, layout, Options) (sink, error) { return nil, ErrNoParquet }

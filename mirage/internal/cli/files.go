package cli

import (
	"encoding/json"
	"io"

	"github.com/foretime/foretime/shared/file"
)

// saveJSON writes v as indented JSON.
func saveJSON(path string, v any) error {
	return file.Write(path, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(v)
	})
}

package slurm

import (
	"encoding/json"
	"errors"
	"io/fs"

	"github.com/foretime/foretime/shared/file"
)

// Asked is a job that was submitted with a predicted time limit.
type Asked struct {
	Job string `json:"slurm_job"`
	// Predicted is the median from the samples alone, and Limit the time limit, in seconds.
	Predicted float64 `json:"predicted_seconds"`
	Limit     float64 `json:"limit_seconds"`
}

// ReadAsked reads the log of submitted jobs; without the file there are none.
func ReadAsked(path string) ([]Asked, error) {
	var all []Asked
	_, err := file.ReadLog(path, lines(&all))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return all, err
}

// Append adds the job to the log. The warning says that the log has no lock.
func (a Asked) Append(path string) (warning, err error) {
	log, err := file.OpenLog(path, lines(new([]Asked)))
	if err != nil {
		return nil, err
	}
	return log.Unlocked, errors.Join(log.AppendJSON(a), log.Close())
}

func lines(all *[]Asked) file.Lines {
	return file.Lines{
		Begin: `{"slurm_job":"`,
		Start: func(first []byte) error { return json.Unmarshal(first, new(Asked)) },
		Read: func(line []byte) error {
			var a Asked
			if err := json.Unmarshal(line, &a); err != nil {
				return err
			}
			*all = append(*all, a)
			return nil
		},
	}
}

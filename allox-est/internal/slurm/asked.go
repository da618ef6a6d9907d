package slurm

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"

	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/stats"
)

// Asked is a job that was submitted with a time limit of a prediction's.
type Asked struct {
	Job string `json:"slurm_job"`
	// Upper is the quantile of the prediction, in seconds, and Limit what Slurm
	// was asked for.
	Upper float64 `json:"predicted_seconds"`
	Limit float64 `json:"limit_seconds"`
}

// ReadAsked reads the log of what was asked; none of a file that is not there.
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

// Calibrate returns the factor that would have made the predictions suffice for a
// share of the jobs, and of how many jobs it was found: the split conformal
// quantile of the times taken over those predicted. A job that was cut counts with
// twice its limit. The factor is 1 while there are too few jobs to tell.
func Calibrate(asked []Asked, took map[string]Took, quantile float64) (factor float64, jobs int) {
	var ratios []float64
	for _, a := range asked {
		t, known := took[a.Job]
		switch {
		case !known || !(a.Upper > 0):
		case t.Cut:
			ratios = append(ratios, 2*a.Limit/a.Upper)
		default:
			ratios = append(ratios, t.Seconds/a.Upper)
		}
	}
	rank := int(math.Ceil(float64(len(ratios)+1) * quantile))
	if rank > len(ratios) {
		return 1, len(ratios)
	}
	return stats.Sort(ratios)[rank-1], len(ratios)
}

// Package yardstick measures the speed of the processor that a job runs on: the
// processor time of a fixed piece of work, done beside the job again and again.
//
// It decides for its caller what the work is (a convolution in single
// precision over 100 KiB, as networks are made of, a tenth of a
// millisecond), that it is done on the job's own processor, and that only
// processor time counts, so that the wait for a processor does not show. Two
// virtual processors of one machine may run at different speeds at the same
// time, as their neighbours on the real processor come and go: a reading on
// another one, or before the job, tells nothing about the job.
//
// It refuses nothing: where it may not choose its processor there are no
// readings.
package yardstick

// Package alloxest estimates a training job's completion time on CPU and GPU from
// samples of about 3 % of it. The command is in cmd/allox-est.
package alloxest

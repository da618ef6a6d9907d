// Package alloxest estimates the completion time of a training job on CPU and GPU from
// samples of about 3 % of it. The command is in cmd/allox-est.
package alloxest

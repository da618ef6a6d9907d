// Package device is the physics of a GPU that several programs share: which kernel runs
// when.
//
// A [Device] gets kernels and says when each is done, under one of three disciplines.
// The simulated driver (simcuda/src/device.c) plays the same physics in real time, and a
// test plays both. It knows nothing of hosts, jobs and policies.
//
// Not modelled: kernels of one client at the same time, memory, clock frequencies, and
// how much two kernels that run at the same time slow each other down beyond the share
// of them that overlaps.
package device

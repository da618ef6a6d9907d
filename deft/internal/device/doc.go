// Package device models a GPU that several programs share: it computes when each kernel
// starts and ends.
//
// A [Device] gets kernels and returns when each is done, under one of three disciplines.
// The simulated driver (simcuda/src/device.c) follows the same model in real time, and a
// test compares both. Hosts, jobs and policies are not part of it.
//
// Not modelled: kernels of one client at the same time, memory, clock frequencies, and
// how much two kernels that run at the same time slow each other down beyond the share
// of them that overlaps.
package device

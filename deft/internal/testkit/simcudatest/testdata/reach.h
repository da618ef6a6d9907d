/* The ways in which programs reach the driver's entry points. */
#ifndef SIMCUDA_REACH_H
#define SIMCUDA_REACH_H

/* v2      cuGetProcAddress_v2, as the run-time library does from CUDA 12 on
 * ptds    the same, asking for per-thread default streams
 * v1      cuGetProcAddress, as the run-time library of CUDA 11 does
 * double  the look-up function looks itself up first
 * dlsym   dlsym by exported name */
#define REACH_PATHS "v2, ptds, v1, double, dlsym"

int reach_known(const char *path);

/* An entry point by the path: cuGetProcAddress is asked for name, dlsym for
 * exported. NULL, and the reason in reach_error, if not found. */
void *reach(const char *path, const char *name, const char *exported);

extern char reach_error[256];

#endif

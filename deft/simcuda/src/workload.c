/* A DNN job without a network: launches the kernels of a profile through
 * libcuda.so.1, job after job, and writes the completion times down. It takes
 * the place of run_model.py in an experiment on the simulated device. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "driver.h"

static const char usage[] =
    "usage: deft-workload [flags]\n"
    "\n"
    "Runs one warm-up job, then jobs of the same kernels, and writes one CSV row each.\n"
    "\n"
    "what a job is:\n"
    "  --kernels N         kernels of a job (with --kernel-ns)\n"
    "  --kernel-ns NS      time of one kernel on the device\n"
    "  --profile FILE      instead: lines \"COUNT NS\", in launch order; # begins a comment\n"
    "  --launch-ns NS      host work before each launch (0)\n"
    "  --host-ms MS        host work at the beginning of each job (0)\n"
    "  --graph             launch the job as one captured graph\n"
    "how many, and when:\n"
    "  --dur-s S           begin jobs for S seconds (0)\n"
    "  --min-jobs N        and at least N jobs (10)\n"
    "  --jobs N            instead: exactly N jobs\n"
    "  --sleep-ms MS       pause after each job (0)\n"
    "  --period-ms MS      begin each job MS after the last one began, or at once if late\n"
    "  --barrier           print \"model loaded\", then wait for a line \"run\" on stdin\n"
    "where and how:\n"
    "  --csv FILE          rows go here, row 1 the warm-up (none)\n"
    "  --device N          CUDA ordinal (0)\n"
    "  --mem-bytes N       device memory held while running (0)\n"
    "  --reserved-bytes N  the figure for the last CSV column (mem-bytes)\n"
    "  --path P            how the driver is reached: v2 (as cudart 12 and later), ptds,\n"
    "                      v1, double, dlsym (v2)\n"
    "  --no-marks          do not call deft_job_begin and deft_job_end\n"
    "\n"
    "The last line on stdout is \"jobs J launches L\", the warm-up included in L.\n"
    "Exit status: 0 done, 1 the driver or a file failed, 2 wrong usage.\n";

int main(int argc, char **argv) {
    (void)argv;
    fputs(usage, argc > 1 ? stderr : stdout);
    return argc > 1 ? 2 : 0;
}

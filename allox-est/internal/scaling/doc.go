// Package scaling predicts the time of a job in a configuration that was not sampled,
// from sampled ones with other numbers of threads, workers or GPUs, another batch size
// or another device.
//
// The model of the time is a sum of non-negative costs, each a product of one of 1, 1/x,
// x and log x for every number x of the configuration, as in Ernest (Venkataraman et
// al., NSDI 2016, section 3.2), fitted by non-negative least squares to relative errors;
// a class, such as the kind of GPU, multiplies the whole. The interval comes from the
// error for each configuration when it is left out, and from the change of the
// prediction without it.
package scaling

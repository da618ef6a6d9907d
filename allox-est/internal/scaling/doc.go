// Package scaling predicts how long a job takes in a configuration that was not
// sampled, from those that were: other numbers of threads, workers or GPUs,
// another batch size, another device.
//
// The time is taken to be a sum of costs that can only add up, each a product
// of one of 1, 1/x, x and log x for every number x of the configuration, as in
// Ernest (Venkataraman et al., NSDI 2016, section 3.2), fitted by non-negative
// least squares to relative errors; a class, such as the kind of GPU, multiplies
// the whole. The doubt is measured: by how much each configuration is missed
// when it is left out, and how much its leaving changes the prediction.
package scaling

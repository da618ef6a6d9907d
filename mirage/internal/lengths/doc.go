// Package lengths predicts run times of jobs from the fractions of their time limits that
// similar jobs used: the product-limit estimate (Kaplan and Meier, JASA 53, 1958) of the
// latest jobs with the same shape, of the same user, or of all users, whichever are
// enough. Running jobs count as censored; without them, long jobs would be missing among
// those that ended recently.
//
// Forecasts of waits, sampled futures and the live queue all use it.
package lengths

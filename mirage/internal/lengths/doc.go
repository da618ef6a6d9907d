// Package lengths tells how long jobs will run, from the shares of their time
// limits that jobs like them used: the product-limit estimate (Kaplan and Meier,
// JASA 53, 1958) of the latest jobs of the same shape, of the same user, or of
// anybody, whichever are enough. Jobs that still run count as censored: without
// them long ones would be missing among those that ended lately.
//
// Forecasts of waits, drawn futures and the live queue all ask it.
package lengths

// Package device says which devices there are, what they are and how loaded
// they are now.
//
// It decides how one machine's load is read from the kernel, and gives every
// machine a stable identity. Where devices come from is a [Source]: this
// machine alone ([Local]), or a file ([File]). It refuses a device without a
// name and a load outside 0 to 100 %.
package device

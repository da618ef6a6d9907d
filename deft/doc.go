// Package deft will share one GPU between DNN jobs without hurting the urgent one.
// Nothing is built yet.
package deft

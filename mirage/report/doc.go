// Package report draws and tells what simulations and validations found.
//
// It decides which chart answers which question: distributions of
// interruption and overlap by method ([Distributions]), nodes in use over
// time ([Utilisation]), which job held which nodes ([Gantt]), and why one job
// waited ([Explain]). It refuses to draw more jobs than can be told apart.
package report

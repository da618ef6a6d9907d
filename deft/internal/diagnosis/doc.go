// Package diagnosis says whether the hook saw a program's launches, and if not, why and how
// to fix it, from the program's file and its clients in a session.
package diagnosis

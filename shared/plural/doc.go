// Package plural writes counts of things: "1 process", "2 processes".
package plural

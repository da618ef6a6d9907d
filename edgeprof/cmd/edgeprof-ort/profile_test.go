package main

import "testing"

func TestPlaces(t *testing.T) {
	p := places{"conv": 0, "/model.0/conv/Conv": 1, "out": 2}
	for kernel, want := range map[string]int{
		"conv": 0, "fused conv": 0, "conv_nchwc": 0, "fused conv/act": 0, "/model.0/conv/Conv": 1, "fused /model.0/conv/Conv": 1, "/model.0/conv/Conv_nchwc": 1,
		"/model.0/conv/Conv/Relu": 1, "out_token_3": 2, "/model.0/other": -1, "": -1, "/": -1,
	} {
		if got := p.find(kernel); got != want {
			t.Errorf("%q: node %d, want %d", kernel, got, want)
		}
	}
}

// Command edgeprof predicts on which edge device an ONNX model runs fastest.
package main

import (
	edgeprof "github.com/foretime/foretime/edgeprof/internal/cli"
	"github.com/foretime/foretime/shared/cli"
)

func main() { cli.Main(edgeprof.New) }

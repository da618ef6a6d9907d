module github.com/foretime/foretime/edgeprof

go 1.26.5

replace github.com/foretime/foretime/shared => ../shared

require (
	github.com/google/go-cmp v0.7.0
	gonum.org/v1/gonum v0.17.0
	google.golang.org/protobuf v1.36.10
)

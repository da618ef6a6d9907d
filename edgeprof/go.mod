module github.com/foretime/foretime/edgeprof

go 1.26.5

replace github.com/foretime/foretime/shared => ../shared

require google.golang.org/protobuf v1.36.10

require github.com/google/go-cmp v0.7.0 // indirect

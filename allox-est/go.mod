module github.com/foretime/foretime/allox-est

go 1.26.5

replace github.com/foretime/foretime/shared => ../shared

require github.com/foretime/foretime/shared v0.0.0

require (
	github.com/google/go-cmp v0.7.0 // indirect
	go.yaml.in/yaml/v3 v3.0.6 // indirect
	golang.org/x/sys v0.49.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

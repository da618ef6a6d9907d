module github.com/foretime/foretime/deft

go 1.26.5

replace github.com/foretime/foretime/shared => ../shared

require github.com/google/go-cmp v0.7.0

module github.com/foretime/foretime/edgeprof

go 1.26.5

replace github.com/foretime/foretime/shared => ../shared

module github.com/foretime/foretime/allox-est

go 1.26.5

replace github.com/foretime/foretime/shared => ../shared

module github.com/foretime/foretime/chamtool

go 1.26.0

replace github.com/foretime/foretime/shared => ../shared

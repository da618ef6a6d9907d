module github.com/foretime/foretime/tools

go 1.26.0

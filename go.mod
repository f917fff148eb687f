module github.com/discreet-dp/discreet

go 1.26

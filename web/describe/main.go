// Command describe prints the description of the API from which package client is generated: see `make generate`.
package main

import (
	"fmt"
	"os"

	"deepoj/web"
)

func main() {
	description, err := web.DescriptionForGo("1")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(string(description))
}

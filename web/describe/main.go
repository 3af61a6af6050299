// Command describe prints the description of the API: as it is served, or for the generator of package client.
package main

import (
	"fmt"
	"os"

	"deepoj/web"
)

func main() {
	describe := map[string]func(string) ([]byte, error){"served": web.Description, "client": web.DescriptionForGo}
	if len(os.Args) != 2 || describe[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: describe served|client")
		os.Exit(2)
	}
	description, err := describe[os.Args[1]]("1")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(string(description))
}

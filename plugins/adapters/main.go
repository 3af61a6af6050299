// Command adapters is all language adapters in one program: the one that it is called as. So a machine compiles their
// runtime once, and an archive of them holds it once. `make plugins` makes a module of it for each language, which
// differ in their manifests only.
package main

import (
	"deepoj/plugins/languages"
	"deepoj/plugins/sdk/go"
)

func main() { sdk.Main(languages.All()...) }

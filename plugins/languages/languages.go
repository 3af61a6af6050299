// Package languages lists the language adapters that ship with Deep-OJ.
package languages

import (
	"deepoj/plugins/languages/c"
	"deepoj/plugins/languages/cpp"
	"deepoj/plugins/languages/csharp"
	golang "deepoj/plugins/languages/go"
	"deepoj/plugins/languages/java"
	"deepoj/plugins/languages/javascript"
	"deepoj/plugins/languages/kotlin"
	"deepoj/plugins/languages/python"
	"deepoj/plugins/languages/rust"
	"deepoj/plugins/languages/typescript"
	"deepoj/plugins/sdk/go"
)

// All returns the adapters, sorted by the ids of their languages.
func All() []sdk.Adapter {
	return []sdk.Adapter{
		c.Adapter(), cpp.Adapter(), csharp.Adapter(), golang.Adapter(), java.Adapter(),
		javascript.Adapter(), kotlin.Adapter(), python.Adapter(), rust.Adapter(), typescript.Adapter(),
	}
}

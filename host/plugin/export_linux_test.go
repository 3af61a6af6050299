package plugin

// Confine forbids this process what children are forbidden.
func Confine() error { return confine(true) }

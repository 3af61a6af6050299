//go:build !race

package plugin

// dataFactor is how much more data a child maps than it asks for.
const dataFactor = 1

//go:build !race

package walls

// dataFactor is how much more data a child maps than it asks for.
const dataFactor = 1

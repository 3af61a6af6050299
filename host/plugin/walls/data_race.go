//go:build race

package walls

// dataFactor is how much more data a child maps than it asks for: the race
// detector keeps several shadow bytes for each byte of the heap.
const dataFactor = 8

//go:build race

package walls_test

const withRace = true

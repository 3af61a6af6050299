//go:build !race

package plugin_test

const underRace = false

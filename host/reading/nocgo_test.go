//go:build !cgo

package reading_test

const cgoEnabled = false

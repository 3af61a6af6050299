//go:build cgo

package reading_test

// cgoEnabled says that this program may have C linked into it.
const cgoEnabled = true

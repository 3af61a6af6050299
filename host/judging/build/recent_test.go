package build

import (
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// TestWhatWasUsedLastIsKept compares with a list in the order of use.
func TestWhatWasUsedLastIsKept(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const limit = 100
		type kept struct {
			key   string
			value int
			bytes int64
		}
		var oracle []kept // the one that was used last in front
		r := newRecent[int](limit)
		for i := range rapid.IntRange(1, 200).Draw(t, "steps") {
			key := strconv.Itoa(rapid.IntRange(0, 20).Draw(t, "key"))
			at := slices.IndexFunc(oracle, func(k kept) bool { return k.key == key })
			if rapid.Bool().Draw(t, "get") {
				got, ok := r.get(key)
				if ok != (at >= 0) || ok && got != oracle[at].value {
					t.Fatalf("get %s gives %d, %t; kept are %v", key, got, ok, oracle)
				}
				if ok {
					used := oracle[at]
					oracle = slices.Insert(slices.Delete(oracle, at, at+1), 0, used)
				}
				continue
			}
			bytes := int64(rapid.IntRange(0, limit/3).Draw(t, "bytes"))
			r.put(key, i, bytes)
			if at >= 0 {
				oracle = slices.Delete(oracle, at, at+1)
			}
			if bytes <= limit/4 {
				oracle = slices.Insert(oracle, 0, kept{key, i, bytes})
			}
			for sum := int64(0); ; sum = 0 {
				for _, k := range oracle {
					sum += k.bytes
				}
				if sum <= limit {
					break
				}
				oracle = oracle[:len(oracle)-1]
			}
		}
		if len(r.by) != len(oracle) || r.order.Len() != len(oracle) {
			t.Fatalf("%d and %d are kept, want %d", len(r.by), r.order.Len(), len(oracle))
		}
	})
}

package command

import "fmt"

// nearest returns the name that differs least from what was written, by letters that are
// another, missing, too many, or in the wrong order; "" if none is near.
func nearest(wrong string, names []string) string {
	best, least := "", 2+len(wrong)/4 // of few letters one may be wrong
	for _, name := range names {
		if d := distance(wrong, name); d < least {
			best, least = name, d
		}
	}
	return best
}

// meant asks whether something was meant; "" asks nothing.
func meant(before, name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s%s?", before, name)
}

// distance counts the letters by which two words differ; two neighbours that changed
// places count once.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			other := 1
			if a[i-1] == b[j-1] {
				other = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+other)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}

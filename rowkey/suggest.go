package rowkey

import "slices"

// suggest proposes the name that was probably meant, or returns otherwise if there is none.
func suggest(got string, names []string, otherwise string) string {
	best, least := "", 3 // two typos at most
	for _, name := range names {
		if d := distance(got, name); d < least && d < len(name) {
			best, least = name, d
		}
	}
	if best == "" {
		return otherwise
	}
	return "did you mean " + best + "?"
}

// distance returns the number of bytes to insert, delete or replace to turn a into b (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// anyField returns a declared field for the fixes of mistakes that name none: a text, if there is one.
func anyField(all []Field) string {
	if i := slices.IndexFunc(all, func(f Field) bool { return f.Type == Text }); i >= 0 {
		return all[i].Name
	}
	if len(all) > 0 {
		return all[0].Name
	}
	return "field"
}

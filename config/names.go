package config

import (
	"regexp"
	"strings"
	"unicode"

	"brine/indexer"
)

var (
	kafkaNames    = regexp.MustCompile(`^[A-Za-z0-9._-]{1,249}$`)
	pipelineNames = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)
	fieldNames    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	hostNames     = regexp.MustCompile(`^(\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)
	tokens        = regexp.MustCompile(`^[!-~]{16,}$`)
)

// kafkaName reports whether s is a legal name of a topic or group.
func kafkaName(s string) bool { return kafkaNames.MatchString(s) && s != "." && s != ".." }

// indexName reports whether indexer accepts s as an index.
func indexName(s string) bool { return indexer.ValidIndex(s) == nil }

// indexFieldName reports whether indexer accepts s as a field.
func indexFieldName(s string) bool {
	return s != "" && s[0] != '_' && !strings.ContainsAny(s, ". \t\n*,\"\\")
}

// tableName reports whether HBase accepts s as a table: "name" or "namespace:name", of letters and digits of any language and "_". The name
// may also contain "." and "-", but not begin with them.
func tableName(s string) bool {
	namespace, name, ok := strings.Cut(s, ":")
	if !ok {
		namespace, name = "default", s
	}
	return word(namespace, "_") && word(name, "_-.") && !strings.ContainsAny(name[:1], "-.") && name != "zookeeper"
}

func word(s, more string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(more, r)
	}) < 0
}

// familyName reports whether HBase accepts s as a column family.
func familyName(s string) bool {
	return s != "" && s[0] != '.' && s != "recovered.edits" && !strings.ContainsAny(s, `:\/`) && strings.IndexFunc(s, unicode.IsControl) < 0
}

// nearest returns the candidate that name was probably meant to be, or "".
func nearest(name string, candidates []string) string {
	folded := fold(name)
	best, bestDistance := "", max(1, len(folded)/3)+1
	for _, c := range candidates {
		if d := distance(folded, fold(c)); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// fold removes differences in spelling: rpcTimeout, rpc-timeout and rpc_timeout are one name.
func fold(s string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(s))
}

// distance returns the number of edits between a and b: insertions, deletions, changes, or swaps of neighbours (optimal string alignment).
// Names longer than 64 bytes are infinitely far apart.
func distance(a, b string) int {
	const most = 64
	if len(a) > most || len(b) > most {
		return most
	}
	var before, last, row [most + 1]int // rows i−2, i−1 and i of the table
	for j := range len(b) + 1 {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last = last, row
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}

// oneOf lists choices for people: a, b or c.
func oneOf(choices []string) string {
	if len(choices) < 2 {
		return strings.Join(choices, "")
	}
	last := len(choices) - 1
	return strings.Join(choices[:last], ", ") + " or " + choices[last]
}

func didYouMean(name string, names []string, otherwise string) string {
	if near := nearest(name, names); near != "" {
		return "did you mean " + near + "?"
	}
	return otherwise
}

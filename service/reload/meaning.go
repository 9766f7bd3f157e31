package reload

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"brine/config"
)

// Agree reports whether two configurations agree on everything of a half that rows and documents are known by, or that those that are
// written mean: records of the earlier one may then be written, or judged, as it says beside the later one.
func Agree(earlier, later *config.Config, half string) bool {
	was, is := find(earlier.Halves(), half), find(later.Halves(), half)
	if was < 0 || is < 0 {
		return false
	}
	plan := New(earlier, later)
	return !slices.ContainsFunc(plan.Settings, func(s Setting) bool {
		return s.Effect == Replay && (concerns(&s, earlier.Halves()[was]) || concerns(&s, later.Halves()[is]))
	})
}

// Meaning names what a pipeline makes of records: two configurations of it with one name make the same. It is the beginning of a SHA-256
// over all settings that what is written follows from, ${…} filled in, and over the schema's file.
func Meaning(p *config.Pipeline) string {
	var lines []string
	p.EachMeant(func(section, name, setting, value string) {
		switch effectOf(section, name) {
		case Onward, Replay:
			lines = append(lines, setting+" "+name+"\x00"+value)
		}
	})
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\x00\x00")))
	return hex.EncodeToString(sum[:12])
}

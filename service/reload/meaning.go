package reload

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"brine/config"
)

// Agree reports whether two configurations agree on everything that identifies a half's rows and documents or determines what stored ones
// mean. If so, records may still be written and judged by the earlier configuration.
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

// Meaning returns a name for what a pipeline makes of records. Two configurations of the pipeline with the same name make the same of them.
// The name is the start of a SHA-256 over all settings that affect what is written, with ${…} expanded, and over the schema's file.
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

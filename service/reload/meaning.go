package reload

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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

// Digest returns a short hash of what a reload to a configuration would do, for a preview and the reload after it: of the configuration as
// written, and of what its pipelines, tables and indexes mean now, with ${…} expanded and with the contents of schema files. Certificates
// and secrets may be renewed between the two.
func Digest(c *config.Config) string {
	text, err := c.Written()
	if err != nil {
		return ""
	}
	sum := sha256.New()
	sum.Write([]byte(text))
	for _, p := range c.Pipelines {
		p.EachMeant(func(m config.Meant) { fmt.Fprintf(sum, "\x00%s %s\x00%s", m.Setting, m.Name, m.Value) })
	}
	return hex.EncodeToString(sum.Sum(nil)[:6])
}

// MeaningOf returns a name for what a half makes of records. Two configurations with the same name make the same of them. The name is the
// start of a SHA-256 over all settings that affect what the half writes, with ${…} expanded, and over the schema's file. Settings that are
// not set do not count, so that a version of brine that has more settings calls it the same.
func MeaningOf(h config.Half) string {
	return form + meaning(h.Pipeline, func(m *config.Meant) bool { return !m.Unset && affects(m.Setting, h) })
}

// form begins the names that MeaningOf returns.
const form = "2."

// Stored reports whether a name is one of a version that stores the configuration of each half that it starts. Earlier versions stored it
// only when a reload led away from it.
func Stored(name string) bool { return strings.HasPrefix(name, form) }

// Means reports whether a name is one for what the half makes of records, given by this version or an earlier one.
func Means(h config.Half, name string) bool {
	if Stored(name) {
		return name == MeaningOf(h)
	}
	return name == Meaning(h.Pipeline) || name == meaning(h.Pipeline, func(m *config.Meant) bool { return affects(m.Setting, h) })
}

// Meaning returns the name that early versions gave to what a pipeline makes of records.
func Meaning(p *config.Pipeline) string {
	return meaning(p, func(*config.Meant) bool { return true })
}

func meaning(p *config.Pipeline, counts func(*config.Meant) bool) string {
	var lines []string
	p.EachMeant(func(m config.Meant) {
		switch effectOf(m.Section, m.Name) {
		case Onward, Replay:
			if counts(&m) {
				lines = append(lines, m.Setting+" "+m.Name+"\x00"+m.Value)
			}
		}
	})
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\x00\x00")))
	return hex.EncodeToString(sum[:12])
}

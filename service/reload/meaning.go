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
		p.EachMeant(func(_, name, setting, value string) { fmt.Fprintf(sum, "\x00%s %s\x00%s", setting, name, value) })
	}
	return hex.EncodeToString(sum.Sum(nil)[:6])
}

// Meaning returns a name for what a pipeline makes of records. Two configurations of the pipeline with the same name make the same of them.
// The name is the start of a SHA-256 over all settings that affect what is written, with ${…} expanded, and over the schema's file.
func Meaning(p *config.Pipeline) string {
	return meaning(p, func(string) bool { return true })
}

// MeaningOf returns such a name for what a half makes of records.
func MeaningOf(h config.Half) string {
	return meaning(h.Pipeline, func(setting string) bool { return affects(setting, h) })
}

func meaning(p *config.Pipeline, counts func(setting string) bool) string {
	var lines []string
	p.EachMeant(func(section, name, setting, value string) {
		switch effectOf(section, name) {
		case Onward, Replay:
			if counts(setting) {
				lines = append(lines, setting+" "+name+"\x00"+value)
			}
		}
	})
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\x00\x00")))
	return hex.EncodeToString(sum[:12])
}

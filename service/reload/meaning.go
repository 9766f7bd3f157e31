package reload

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"brine/config"
)

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

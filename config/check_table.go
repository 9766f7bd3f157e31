package config

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"brine/event"
	"brine/rowkey"
)

const (
	longFamily    = 8  // bytes of a family's name that are worth a warning: every cell holds it
	longQualifier = 20 // the same of a qualifier
	manyFamilies  = 3  // all families of a region are flushed together
)

func (l *loader) checkTable(c *Config, t *Table) {
	setting := join("tables", t.Name)
	if !tableName(t.Name) {
		l.faultName(setting, Name, "is no name of a table", "write namespace:name or name, of letters, digits and \"_\"")
	}
	if len(t.Families) > manyFamilies {
		l.warn(setting+".families", ManyFamilies, fmt.Sprintf("there are %d families, and each is flushed whenever one is full", len(t.Families)),
			"one family, or one for what is read often and one for the rest, does better")
	}
	for i := range t.Families {
		l.checkFamily(t, &t.Families[i], join(setting+".families", t.Families[i].Name))
	}
	l.checkKeyList(t, setting)
	l.checkKeys(c, t)
	l.checkSplits(t, setting)
	if len(t.rowKeys) > 0 && t.Row != "" {
		l.lintKeys(t)
	}
}

func (l *loader) checkFamily(t *Table, f *Family, setting string) {
	switch {
	case !familyName(f.Name):
		l.faultName(setting, Name, "is no name of a column family", "use letters and digits; one letter is best")
	case len(f.Name) > longFamily:
		l.warnName(setting, LongName, fmt.Sprintf("its %d bytes are stored in every cell", len(f.Name)), "one letter is best")
	}
	if f.TTL%time.Second != 0 {
		l.fault(setting+".ttl", Range, "is no whole number of seconds", "HBase counts a TTL in seconds: write "+DurationText(f.TTL.Truncate(time.Second)+time.Second))
	}
	if f.MinVersions > f.Versions {
		l.fault(setting+".min_versions", Range, "is more than versions", "write at most "+strconv.Itoa(f.Versions))
	}
	if f.MinVersions > 0 && f.TTL == 0 {
		l.warn(setting+".min_versions", Unused, "does nothing without a ttl", "remove it, or write a ttl")
	}
	if t.Row == rowEvent && f.Versions > 1 {
		l.warn(setting+".versions", ManyVersions, "an event's row is written once, so there is never a second version", "write versions: 1")
	}
	if t.Row == rowEntity && f.Versions > 1 && f.MinVersions == 0 { // who writes min_versions has said that older ones are wanted
		l.report(Advice, l.near(setting+".versions").value, 0, setting+".versions", ManyVersions, "brine reads the newest version of a cell only, and the others take room",
			"write versions: 1, unless something else reads the older ones")
	}
}

var keyTypes = map[event.Type]rowkey.Type{
	event.Text: rowkey.Text, event.Int: rowkey.Int, event.Float: rowkey.Float, event.Bool: rowkey.Bool,
	event.TimeMS: rowkey.Time, event.TimeS: rowkey.Time, event.Time: rowkey.Time,
}

func keyType(p *Pipeline, field string) rowkey.Type {
	if f := p.field(field); f != nil {
		return keyTypes[f.eventType()]
	}
	return 0
}

func typeName(p *Pipeline, field string) string {
	if f := p.field(field); f != nil {
		return f.Type
	}
	return "absent"
}

func (l *loader) checkSplits(t *Table, setting string) {
	if l.has(setting+".regions") && l.has(setting+".splits") {
		l.fault(setting+".splits", Duplicate, "both regions and splits are set", "keep one of the two")
		return
	}
	if len(t.Splits) == 0 && (len(t.rowKeys) == 0 || t.Regions < 2) {
		return
	}
	if _, err := t.SplitPoints(); err != nil {
		at := setting + ".regions"
		if len(t.Splits) > 0 {
			at = setting + ".splits"
		}
		message, fix, ok := strings.Cut(err.Error(), "; ")
		if !ok {
			fix = "begin the key with a hash or a salt, or write regions: 1"
		}
		l.fault(at, SplitPoints, message, fix)
	}
}

// SplitPoints returns the points that the table is split at when it is made; none for one region. They are those of the
// newest key, and need a pipeline that writes the table, since the fields' types come from there.
func (t *Table) SplitPoints() ([][]byte, error) {
	if len(t.Splits) > 0 {
		return explicitSplits(t.Splits)
	}
	if t.Regions < 2 {
		return nil, nil
	}
	if len(t.rowKeys) == 0 {
		return nil, fmt.Errorf("no pipeline writes table %s, so the types of its key are unknown; give splits, or write regions: 1", t.Name)
	}
	return t.rowKeys.Newest().Splits(t.Regions)
}

func explicitSplits(texts []string) ([][]byte, error) {
	var points [][]byte
	for i, s := range texts {
		point, err := unescape(s)
		if err != nil {
			return nil, err
		}
		if i > 0 && bytes.Compare(points[i-1], point) >= 0 {
			return nil, fmt.Errorf("%s does not come after %s; write the points in ascending order", quote(s), quote(texts[i-1]))
		}
		points = append(points, point)
	}
	return points, nil
}

// unescape reads bytes as HBase's shell writes them: \x and two hex digits for a byte, all else as it stands.
func unescape(s string) ([]byte, error) {
	var out []byte
	for i := 0; i < len(s); i++ {
		if !strings.HasPrefix(s[i:], `\x`) {
			out = append(out, s[i])
			continue
		}
		n, err := strconv.ParseUint(s[min(i+2, len(s)):min(i+4, len(s))], 16, 8)
		if err != nil || i+4 > len(s) {
			return nil, fmt.Errorf("%s has a \\x without two hex digits; write \\x0a for the byte 10", quote(s))
		}
		out = append(out, byte(n))
		i += 3
	}
	return out, nil
}

package schema

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/config"
	"brine/hbase"
)

// Change is an attribute in which a table differs from the configuration, or a family that it lacks. Attributes that the configuration does
// not set are left alone.
type Change struct {
	Family    string `json:"family,omitempty"`    // empty: the table's own
	Attribute string `json:"attribute,omitempty"` // empty: the family is missing
	Is        string `json:"is,omitempty"`        // empty: not set
	Becomes   string `json:"becomes,omitempty"`
	Loses     string `json:"loses,omitempty"` // what the change deletes
	Allow     string `json:"allow,omitempty"` // flag of brine tables apply that allows it
}

// The flags of brine tables apply that allow changes that lose cells.
const (
	AllowShorterTTL    = "--allow-shorter-ttl"
	AllowFewerVersions = "--allow-fewer-versions"
)

// String describes the difference in the units of the configuration.
func (c Change) String() string {
	switch {
	case c.MissingFamily():
		return fmt.Sprintf("family %s is missing", c.Family)
	case c.Family == "":
		return fmt.Sprintf("%s is %s, but the configuration says %s", c.Attribute, c.Text(c.Is), c.Text(c.Becomes))
	}
	return fmt.Sprintf("family %s: %s is %s, but the configuration says %s", c.Family, c.Attribute, c.Text(c.Is), c.Text(c.Becomes))
}

// MissingFamily reports whether the table lacks a family, without which it cannot be written.
func (c Change) MissingFamily() bool { return c.Attribute == "" }

// defaultAttributes are HBase's defaults of attributes.
var defaultAttributes = map[string]string{
	"VERSIONS": "1", "MIN_VERSIONS": "0", "TTL": config.Forever, "BLOCKSIZE": "65536", "COMPRESSION": "NONE", "BLOOMFILTER": "ROW",
	"DATA_BLOCK_ENCODING": "NONE", "IN_MEMORY": "false", "BLOCKCACHE": "true", "REPLICATION_SCOPE": "0", "IS_MOB": "false",
	"MOB_THRESHOLD": "102400",
}

// changes returns the differences between what is wanted and what exists.
func changes(want, have hbase.Table) []Change {
	out := attributeChanges("", want.Values, have.Values)
	for _, f := range want.Families {
		i := slices.IndexFunc(have.Families, func(h hbase.Family) bool { return h.Name == f.Name })
		if i < 0 {
			out = append(out, Change{Family: f.Name})
			continue
		}
		all := attributeChanges(f.Name, f.Values, have.Families[i].Values)
		for n := range all {
			all[n].lose(have.Families[i].Values)
		}
		out = append(out, all...)
	}
	return out
}

func attributeChanges(family string, want, have map[string]string) (out []Change) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		is, set := have[name]
		if !set {
			is = defaultAttributes[name]
		}
		if !sameAttribute(name, is, want[name]) {
			out = append(out, Change{Family: family, Attribute: name, Is: is, Becomes: want[name]})
		}
	}
	return out
}

// sameAttribute compares values as HBase reads them: it ignores case, and FOREVER is the largest TTL.
func sameAttribute(name, a, b string) bool {
	if name == "TTL" {
		a, b = strings.ReplaceAll(a, "FOREVER", config.Forever), strings.ReplaceAll(b, "FOREVER", config.Forever)
	}
	return strings.EqualFold(a, b)
}

// lose sets what the change deletes, if it shortens what is kept.
func (c *Change) lose(have map[string]string) {
	is, _ := strconv.ParseInt(strings.ReplaceAll(c.Is, "FOREVER", config.Forever), 10, 64) // not a number: no known loss
	becomes, _ := strconv.ParseInt(c.Becomes, 10, 64)
	if becomes >= is {
		return
	}
	switch c.Attribute {
	case "TTL":
		c.Loses, c.Allow = "cells older than "+ttlText(c.Becomes), AllowShorterTTL
	case "VERSIONS":
		c.Loses, c.Allow = fmt.Sprintf("all but the newest %d of the versions of each cell", becomes), AllowFewerVersions
	case "MIN_VERSIONS":
		if sameAttribute("TTL", cmp.Or(have["TTL"], config.Forever), config.Forever) {
			return // nothing expires
		}
		c.Loses, c.Allow = fmt.Sprintf("all but the newest %d of the versions of cells older than their ttl", becomes), AllowFewerVersions
	}
}

// merged returns the table as it is, changed to what is wanted.
func merged(have, want hbase.Table) hbase.Table {
	out := have
	out.Values = union(have.Values, want.Values)
	out.Families = slices.Clone(have.Families)
	for _, f := range want.Families {
		i := slices.IndexFunc(out.Families, func(h hbase.Family) bool { return h.Name == f.Name })
		if i < 0 {
			out.Families = append(out.Families, f)
			continue
		}
		out.Families[i].Values = union(out.Families[i].Values, f.Values)
	}
	return out
}

// union returns the values of both. If both have an attribute, the value of over counts, unless both mean the same.
func union(under, over map[string]string) map[string]string {
	out := maps.Clone(under)
	if out == nil {
		out = map[string]string{}
	}
	for name, value := range over {
		if was, ok := out[name]; !ok || !sameAttribute(name, was, value) {
			out[name] = value
		}
	}
	return out
}

// Text returns a value of the attribute as the configuration writes it.
func (c Change) Text(value string) string {
	if value == "" {
		return "not set"
	}
	switch c.Attribute {
	case "TTL":
		return ttlText(value)
	case "BLOCKSIZE", "MOB_THRESHOLD", "MAX_FILESIZE", "MEMSTORE_FLUSHSIZE":
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			return config.Bytes(n).String()
		}
	}
	return value
}

// ttlText returns a number of seconds as the configuration writes it.
func ttlText(seconds string) string {
	n, err := strconv.ParseInt(seconds, 10, 64)
	switch {
	case err != nil:
		return seconds
	case seconds == config.Forever:
		return "FOREVER"
	case n > 0 && n%86400 == 0:
		return fmt.Sprintf("%dd", n/86400)
	}
	return (time.Duration(n) * time.Second).String()
}

package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/config"
	"brine/hbase"
)

// tableChange is one attribute that a table has otherwise than the configuration says. Attributes that the configuration does
// not set are left alone.
type tableChange struct {
	Family    string `json:"family,omitempty"`    // none: the table's own
	Attribute string `json:"attribute,omitempty"` // none: the family is missing
	Is        string `json:"is,omitempty"`        // none: not set
	Becomes   string `json:"becomes,omitempty"`
	Loses     string `json:"loses,omitempty"` // what is gone once it is changed
	Allow     string `json:"allow,omitempty"` // the flag that allows it
}

func (c tableChange) String() string {
	switch {
	case c.missingFamily():
		return fmt.Sprintf("family %s is missing", c.Family)
	case c.Family == "":
		return fmt.Sprintf("%s is %s, the configuration says %s", c.Attribute, c.text(c.Is), c.text(c.Becomes))
	}
	return fmt.Sprintf("family %s: %s is %s, the configuration says %s", c.Family, c.Attribute, c.text(c.Is), c.text(c.Becomes))
}

// missingFamily tells a difference that makes writing impossible.
func (c tableChange) missingFamily() bool { return c.Attribute == "" }

// defaultAttributes are what HBase takes for attributes that are not set.
var defaultAttributes = map[string]string{
	"VERSIONS": "1", "MIN_VERSIONS": "0", "TTL": forever, "BLOCKSIZE": "65536", "COMPRESSION": "NONE", "BLOOMFILTER": "ROW",
	"DATA_BLOCK_ENCODING": "NONE", "IN_MEMORY": "false", "BLOCKCACHE": "true", "REPLICATION_SCOPE": "0", "IS_MOB": "false", "MOB_THRESHOLD": "102400",
}

// forever is the TTL of cells that stay.
const forever = "2147483647"

// changes lists what a table has otherwise than wanted.
func changes(want, have hbase.Table) []tableChange {
	out := attributeChanges("", want.Values, have.Values)
	for _, f := range want.Families {
		i := slices.IndexFunc(have.Families, func(h hbase.Family) bool { return h.Name == f.Name })
		if i < 0 {
			out = append(out, tableChange{Family: f.Name})
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

func attributeChanges(family string, want, have map[string]string) (out []tableChange) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		is, set := have[name]
		if !set {
			is = defaultAttributes[name]
		}
		if !sameAttribute(name, is, want[name]) {
			out = append(out, tableChange{Family: family, Attribute: name, Is: is, Becomes: want[name]})
		}
	}
	return out
}

// sameAttribute compares as HBase reads attributes: letters' case does not matter, and FOREVER is the largest TTL.
func sameAttribute(name, a, b string) bool {
	if name == "TTL" {
		a, b = strings.ReplaceAll(a, "FOREVER", forever), strings.ReplaceAll(b, "FOREVER", forever)
	}
	return strings.EqualFold(a, b)
}

// lose says what is gone once the change is made, for those that shorten what is kept.
func (c *tableChange) lose(have map[string]string) {
	is, _ := strconv.ParseInt(strings.ReplaceAll(c.Is, "FOREVER", forever), 10, 64) // what is no number loses nothing that we know
	becomes, _ := strconv.ParseInt(c.Becomes, 10, 64)
	if becomes >= is {
		return
	}
	switch c.Attribute {
	case "TTL":
		c.Loses, c.Allow = "cells older than "+ttlText(c.Becomes), "--allow-shorter-ttl"
	case "VERSIONS":
		c.Loses, c.Allow = fmt.Sprintf("all but the newest %d of the versions of each cell", becomes), "--allow-fewer-versions"
	case "MIN_VERSIONS":
		if sameAttribute("TTL", cmp.Or(have["TTL"], forever), forever) {
			return // nothing expires
		}
		c.Loses, c.Allow = fmt.Sprintf("all but the newest %d of the versions of cells older than their ttl", becomes), "--allow-fewer-versions"
	}
}

// merged is a table with what is wanted of it changed, and all else as it is.
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

// union is the values of both; of an attribute that both have, the one of over, unless they mean the same.
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

func printChanges(out io.Writer, all []tableChange) {
	w := columns{out: out}
	w.row([]string{"  FAMILY", "ATTRIBUTE", "IS", "BECOMES"})
	for _, c := range all {
		if c.missingFamily() {
			w.row([]string{"  " + c.Family, "", "missing", "added"})
			continue
		}
		w.row([]string{"  " + cmp.Or(c.Family, "(table)"), c.Attribute, c.text(c.Is), c.text(c.Becomes)})
	}
	w.flush()
	for _, c := range all {
		if c.Loses != "" {
			wrapped(out, "  ", fmt.Sprintf("warning: family %s: %s %s → %s loses %s", c.Family, c.Attribute, c.text(c.Is), c.text(c.Becomes), c.Loses))
		}
	}
}

// text writes a value as the configuration does.
func (c tableChange) text(value string) string {
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

// ttlText writes a number of seconds as the configuration does.
func ttlText(seconds string) string {
	n, err := strconv.ParseInt(seconds, 10, 64)
	switch {
	case err != nil:
		return seconds
	case seconds == forever:
		return "FOREVER"
	case n > 0 && n%86400 == 0:
		return fmt.Sprintf("%dd", n/86400)
	}
	return (time.Duration(n) * time.Second).String()
}

package verify

import (
	"slices"
	"strings"
)

// Kind is what is wrong. Its text is its name in outputs, and the label of its metric.
type Kind string

// The kinds of findings; the table below gives the meaning of each.
const (
	Missing   Kind = "missing"
	Stale     Kind = "stale"
	Different Kind = "different"
	Newer     Kind = "newer"
	Extra     Kind = "extra"
	Collided  Kind = "collided"
	Lost      Kind = "lost"
)

// Fix is what fixes findings of a kind.
type Fix byte

// The fixes.
const (
	NoFix         Fix = iota // nothing that verify can do
	ByRepair                 // Check.Repair
	ByDeleteExtra            // Check.DeleteExtra
)

// kinds holds all kinds in the order in which they are reported. Everything that depends on a kind, except how it is found, is derived from
// its line here; go generate ./verify writes the table of docs/verify.md.
var kinds = []struct {
	kind    Kind
	full    bool // found in full mode only
	meaning string
	fix     Fix
	note    string // about the fix
}{
	{Missing, false, "an event, or one of its cells, is missing", ByRepair, ""},
	{Stale, false, "a cell is older than it should be, or should have been deleted", ByRepair, ""},
	{Different, false, "the version is right, but the value is not", ByRepair, ""},
	{Newer, true, "a cell has a version that no record has: something else writes the table", NoFix,
		"find the writer; nothing newer is ever overwritten"},
	{Extra, true, "a row, a document, a cell or a field that no record accounts for", ByDeleteExtra, "asks before it deletes"},
	{Collided, false, "two different events have the same key, in a table with `row: event`", NoFix,
		"a key that distinguishes them ([rowkeys.md](rowkeys.md))"},
	{Lost, false, "a record cannot be written, but there is no dead letter for it; a purge, or Kafka's retention, may have deleted that",
		ByRepair, "writes the dead letter"},
}

// Kinds holds all kinds in the order in which they are reported.
var Kinds = func() (all []Kind) {
	for i := range kinds {
		all = append(all, kinds[i].kind)
	}
	return all
}()

// KindNames lists all kinds for people: "missing, stale, … or lost".
func KindNames() string {
	names := make([]string, len(Kinds))
	for i, kind := range Kinds {
		names[i] = string(kind)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Fix returns what fixes findings of the kind.
func (k Kind) Fix() Fix { return kinds[slices.Index(Kinds, k)].fix }

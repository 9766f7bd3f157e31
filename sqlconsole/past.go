package sqlconsole

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"brine/event"
	"brine/query"
)

// Kept is how much HBase keeps of earlier cells in a family.
type Kept = query.Kept

// Keeper is a Store that knows how much HBase keeps of the tables; query.Selector is one. For others, the Catalog is believed.
type Keeper interface {
	// Kept returns what a table keeps by family, or nil if that cannot be known.
	Kept(ctx context.Context, table string) (map[string]Kept, error)
}

// kept returns as of when to read, with what the table in HBase keeps. It refuses a table that keeps less than the catalog says: what was
// there may be gone without a trace.
func (p *Plan) kept(ctx context.Context, s Store) (*query.AsOf, error) {
	keeper, ok := s.(Keeper)
	if p.Selection.AsOf == nil || !ok {
		return p.Selection.AsOf, nil
	}
	has, err := keeper.Kept(ctx, p.Table.Name)
	if err != nil || has == nil {
		return p.Selection.AsOf, err
	}
	at := p.Statement.AsOf.Pos
	out := &query.AsOf{At: p.Selection.AsOf.At, Kept: map[string]int{}}
	for _, family := range slices.Sorted(maps.Keys(has)) {
		k := has[family]
		declared, named := p.Selection.AsOf.Kept[family]
		switch {
		case !named && !p.Selection.Whole:
			continue
		case k.TTL > 0:
			return nil, wrong(at, "remove AS OF", "what family %s held at that time may be gone: its ttl in HBase is %v", family, k.TTL)
		case k.Versions < declared:
			return nil, wrong(at, "remove AS OF, or change the table or its declaration (brine tables check shows the difference)",
				"family %s is declared with %d versions of each cell, but HBase keeps %d: earlier values may be gone", family, declared, k.Versions)
		}
		out.Kept[family] = k.Versions
	}
	return out, nil
}

// past makes the plan read rows as they were, if the statement asks for it. It refuses what the table does not keep: the answer would
// silently omit what was there.
func (p *Plan) past(now time.Time) error {
	s := p.Statement
	if p.Selection.Splits = s.Versions; s.AsOf == nil {
		return p.split()
	}
	at := s.AsOf.Pos
	t := p.Table
	switch {
	case s.Versions > 0:
		return wrong(at, "write one of them", "AS OF shows rows as they were at a time, VERSIONS as they were written")
	case t.Numbers:
		return wrong(at, "write VERSIONS 10", "the versions of table %s are not times", t.Name)
	case t.Erases != "":
		return wrong(at, "write VERSIONS 10 for what is left", "table %s does not keep what was there: %s", t.Name, t.Erases)
	case len(p.words) > 0:
		return wrong(at, "remove MATCH or AS OF", "the index has only the current rows")
	case len(t.Keys) > 1:
		return wrong(at, "remove AS OF", "table %s has several keys, depending on the version", t.Name)
	}
	kept := map[string]int{}
	for _, family := range t.families() {
		k := t.Kept[family]
		switch {
		case k.TTL > 0:
			return wrong(at, "remove AS OF", "what family %s held at that time may be gone: its ttl is %v", family, k.TTL)
		case k.Versions <= 1:
			return wrong(at, "remove AS OF, or declare the family with more versions",
				"family %s keeps one version of each cell: earlier values are gone", family)
		}
		kept[family] = k.Versions
	}
	clock := &column{ref: Ref{Name: Name{Text: "AS OF"}}, typ: event.TimeMS}
	v, err := clock.value(*s.AsOf, now)
	if err != nil {
		return err
	}
	p.Selection.AsOf = &query.AsOf{At: v.Int(), Kept: kept}
	return nil
}

// split returns the reason why the versions of rows cannot be shown.
func (p *Plan) split() error {
	s := p.Statement
	if s.Versions > 0 && len(p.Table.Keys) > 1 {
		return wrong(s.From.Pos, "remove VERSIONS", "table %s has several keys, depending on the version", p.Table.Name)
	}
	return nil
}

// refused describes what a cell did not keep, and the index's objection to its query. It returns other errors unchanged, except for masked
// keys.
func (p *Plan) refused(err error) error {
	if fault, ok := errors.AsType[*query.Fault](err); ok && len(p.words) > 0 {
		return wrong(p.words[0].ref.Pos, fault.Fix, "%s", fault.Msg)
	}
	lost, ok := errors.AsType[*query.GoneError](err)
	if !ok {
		return query.MaskedError(err, p.masks.Masks)
	}
	name := lost.Column.String()
	if p.masks.masksCell(p.Table, lost.Column) {
		name = "family " + lost.Column.Family
	}
	return wrong(p.Statement.AsOf.Pos, "use a later time, or remove AS OF",
		"a cell of %s was written %d times since then, and its family keeps no more versions: the value at that time is gone", name, lost.Kept)
}

package sink

import (
	"fmt"
	"slices"

	"brine/event"
)

// ttl is how long a mutation's cells are kept, in ms from its version on.
type ttl struct {
	ms    int64 // 0: as long as their families keep them
	until int   // the field in the schema that holds the end instead; -1: none
}

func newTTL(rows Rows, schema event.Schema, nulls NullPolicy) (ttl, error) {
	t := ttl{ms: rows.TTL.For.Milliseconds(), until: -1}
	switch {
	case rows.TTL == TTL{}:
		return t, nil
	case schema.Untimed() != "":
		return t, fmt.Errorf("%s are not timestamps, so a ttl would mean something else; remove it", schema.Untimed())
	case rows.Deletes.Hard:
		return t, fmt.Errorf("a ttl would also expire the delete markers, and deleted rows would reappear; remove one of the two")
	case nulls.Deletes():
		return t, fmt.Errorf("a ttl would also expire the delete markers of nulls %s, and older cells would reappear; remove one of the two",
			nulls)
	case rows.TTL.Until != "" && rows.TTL.For != 0:
		return t, fmt.Errorf("both a duration and field %s say how long cells are kept; keep one", rows.TTL.Until)
	case rows.TTL.Until == "" && t.ms < 1:
		return t, fmt.Errorf("a ttl of %s is less than a millisecond", rows.TTL.For)
	case rows.TTL.Until == "":
		return t, nil
	}
	t.until = slices.IndexFunc(schema.Fields, func(f event.Field) bool { return f.Name == rows.TTL.Until })
	switch {
	case t.until < 0:
		return t, fmt.Errorf("field %q, which says how long cells are kept, is not declared; add it to fields", rows.TTL.Until)
	case !schema.Fields[t.until].Type.IsTime():
		return t, fmt.Errorf("field %s, which says until when cells are kept, is declared %s; it must be a time", rows.TTL.Until,
			schema.Fields[t.until].Type)
	}
	return t, nil
}

// of returns the TTL of an event's cells in ms, or 0 if they have none of their own. If it has already passed, of returns 1, the shortest
// TTL.
func (t *ttl) of(ev *event.Event) int64 {
	if t.until < 0 {
		return t.ms
	}
	if v := ev.Values[t.until]; !v.Null() {
		return max(1, v.Int()-ev.Version)
	}
	return 0
}

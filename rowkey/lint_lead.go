package rowkey

import (
	"fmt"
	"slices"
)

// lintLead finds a lead that only grows: it sends all writes to one region, at the end of the table (or at its start, if counted down).
func (k *Key) lintLead(LintOptions) []Finding {
	lead := k.lead()
	if _, ok := spreadOf(lead.part); ok {
		return k.lintSlowLead(lead)
	}
	f := lead.reads()[0]
	if n, ok := lead.part.(*number); ok && (n.typ == Time || n.typ == Int) {
		what := "numbers that are counted up"
		if n.typ == Time {
			what = "times"
		}
		return []Finding{{"monotonic-lead", Warning, lead.offset,
			fmt.Sprintf("the key begins with %s: %s arrive in order, so at any moment all writes go to one region", lead.expr(), what),
			k.fixLead(16)}}
	}
	fix := fmt.Sprintf("begin it with md5(%s, 4), or find split points from a sample", f.name)
	if _, ok := lead.part.(*geohash); ok { // a hash would scatter the cells
		fix = "find split points from a sample"
	}
	return []Finding{{"uneven-lead", Advice, lead.offset,
		fmt.Sprintf("the key begins with %s: rows spread only as its values do, and split points cannot be computed", lead.expr()), fix}}
}

// slow is the unit of time, in milliseconds, from which a hash of it stays the same for too long: a minute.
const slow = 60_000

// lintSlowLead finds a hash or salt of nothing but a time that the key holds in minutes or coarser: it is the same for all writes of a
// minute. In a key without other fields these writes go to one row, which nothing can spread.
func (k *Key) lintSlowLead(lead slot) []Finding {
	var finest *unit
	for _, f := range lead.reads() {
		n, ok := f.kept.(*number)
		if !ok || n.unit == nil || n.unit.div < slow {
			return nil
		}
		if finest == nil || n.unit.div < finest.div {
			finest = n.unit
		}
	}
	by := k.spreadBy()
	if by.typ == Time || k.spreadsBehind(lead) {
		return nil
	}
	return []Finding{{"monotonic-lead", Warning, lead.offset,
		fmt.Sprintf("%s is the same for all events of one %s, so at any moment all writes go to one region", lead.expr(), finest.one()),
		"build it from what differs within one: " + spreadOver(lead.part, by)}}
}

// spreadsBehind reports whether a hash or salt directly follows the lead, because regions can be cut in it, too.
func (k *Key) spreadsBehind(lead slot) bool {
	i := slices.IndexFunc(k.slots, func(s slot) bool { return s.part == lead.part }) + 1
	if i == len(k.slots) {
		return false
	}
	_, ok := spreadOf(k.slots[i].part)
	return ok
}

// spreadOver returns the expression of the same hash or salt over another field.
func spreadOver(p part, f field) string {
	switch p := p.(type) {
	case *hash:
		other := *p
		other.fields = []field{f}
		return other.expr()
	case *salt:
		other := *p
		other.fields = []field{f}
		return other.expr()
	}
	return f.name
}

// fixLead returns the advice on what to put in front of the key so that its rows spread over n regions.
func (k *Key) fixLead(n int) string {
	by, order := k.spreadBy(), "time"
	if by.typ == Time {
		return "begin it with " + saltTimes(n, by)
	}
	if lead := k.lead(); !lead.isTime() {
		order = lead.reads()[0].name
	}
	return fmt.Sprintf("begin it with md5(%s, 4), or with salt(%d, %s) when scans go over all rows by %s", by.name, n, by.name, order)
}

// saltTimes returns the advice for a key that holds only times: a hash would scatter what scans want side by side.
func saltTimes(n int, at field) string {
	return fmt.Sprintf("salt(%d, %s): a range of %s is then one scan in each bucket", n, at.name, at.name)
}

// spreadBy returns the best field to hash or salt by: the key's first text, otherwise a number rather than a time.
func (k *Key) spreadBy() field {
	if text, ok := k.firstHeld(Text); ok {
		return text
	}
	first := k.lead().reads()[0]
	if n, ok := k.firstHeld(Int); ok && first.typ == Time {
		return n
	}
	return first
}

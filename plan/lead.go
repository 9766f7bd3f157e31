package plan

import (
	"brine/rowkey"
)

// muchLead is the fraction of a region's mean from which one value of the leading field is reported.
const muchLead = 0.5

// findLead finds the most frequent value of the first field that the key holds. Rows with one value are adjacent, so they are in few
// regions, however the table is split.
func (f *Forecast) findLead(key *rowkey.Key, rows [][]byte) {
	names := key.Fields()
	if len(rows) == 0 {
		return
	}
	first := firstHeld(key, rows[0])
	if first < 0 {
		return
	}
	most, run, last := "", 0, ""
	best := 0
	for _, row := range rows {
		values, err := key.Decode(row)
		if err != nil {
			continue // a row of the key always decodes
		}
		if v := values[first].String(); v == last {
			run++
		} else {
			last, run = v, 1
		}
		if run > best {
			best, most = run, last
		}
	}
	share := float64(best) / float64(len(rows))
	if regions := len(f.Split.Regions); best > 2 && share*float64(max(regions, 4)) >= muchLead {
		f.Lead = &LeadingPart{Field: names[first], Value: most, Share: share}
	}
}

// firstHeld returns the index of the first of the key's fields that its rows hold, not only hash, or −1 if there is none.
func firstHeld(key *rowkey.Key, row []byte) int {
	values, err := key.Decode(row)
	if err != nil {
		return -1
	}
	for i, v := range values {
		if !v.Null() {
			return i
		}
	}
	return -1
}

// leadingValues returns the number of values of the first field that the key holds, in sorted rows, or 0 if it holds none.
func leadingValues(key *rowkey.Key, rows [][]byte) (n int) {
	first := firstHeld(key, rows[0])
	if first < 0 {
		return 0
	}
	values := make([]rowkey.Value, len(key.Fields()))
	last := ""
	for _, row := range rows {
		if key.DecodeInto(values, row) != nil {
			continue // a row of the key always decodes
		}
		if v := values[first].String(); n == 0 || v != last {
			n, last = n+1, v
		}
	}
	return n
}

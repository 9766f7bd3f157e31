package plan

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/cespare/xxhash/v2"

	"brine/skew"
)

// Tie is two events of one version that disagree about one cell: the one applied last wins.
type Tie struct {
	Row     skew.Key `json:"row"`
	Version int64    `json:"version"`
	Events  [2]int64 `json:"events"` // their places in the sample
}

// ties finds the ties among the measured events, independently of the order of the events.
type ties map[uint64]*versioned // by the hash of row, version and column

// versioned is one version of a cell: of the values that events set it to, it holds the two different ones with the smallest places, as
// hashes.
type versioned struct {
	row     []byte
	version int64
	values  []uint64
	at      []int64
}

func (t ties) add(at int64, row []byte, version int64, all []Cell) {
	for _, c := range all {
		var d xxhash.Digest
		d.Reset()
		_, _ = d.Write(binary.BigEndian.AppendUint64(nil, uint64(version))) // a hash's Write never fails
		_, _ = d.Write(binary.BigEndian.AppendUint32(nil, uint32(len(row))))
		_, _ = d.Write(row)
		_, _ = d.WriteString(c.Family + ":" + c.Qualifier)
		v := t[d.Sum64()]
		if v == nil {
			v = &versioned{row: row, version: version}
			t[d.Sum64()] = v
		}
		v.add(xxhash.Sum64(c.Value), at)
	}
}

// add keeps the two different values with the smallest places. A dropped value was behind both, and still is.
func (v *versioned) add(value uint64, at int64) {
	if i := slices.Index(v.values, value); i >= 0 {
		v.at[i] = min(v.at[i], at)
	} else {
		v.values, v.at = append(v.values, value), append(v.at, at)
	}
	for i := len(v.at) - 1; i > 0 && v.at[i] < v.at[i-1]; i-- {
		v.at[i], v.at[i-1] = v.at[i-1], v.at[i]
		v.values[i], v.values[i-1] = v.values[i-1], v.values[i]
	}
	v.values, v.at = v.values[:min(2, len(v.at))], v.at[:min(2, len(v.at))]
}

func (t ties) merge(o ties) {
	for hash, v := range o {
		if was := t[hash]; was != nil {
			for i := range v.values {
				was.add(v.values[i], v.at[i])
			}
			continue
		}
		t[hash] = v
	}
}

// rows returns the number of rows that tie, and the tie whose second event is the first in the sample.
func (t ties) rows() (n int, first *Tie) {
	rows := map[string]bool{}
	tied := slices.DeleteFunc(slices.Collect(maps.Values(t)), func(v *versioned) bool { return len(v.values) < 2 })
	for _, v := range tied {
		rows[string(v.row)] = true
	}
	if len(tied) == 0 {
		return 0, nil
	}
	v := slices.MinFunc(tied, func(a, b *versioned) int {
		return cmp.Or(cmp.Compare(a.at[1], b.at[1]), slices.Compare(a.row, b.row))
	})
	return len(rows), &Tie{Row: skew.Key(v.row), Version: v.version, Events: [2]int64(v.at)}
}

package store

import "math"

// Type says what a cell does; the numbers are KeyValue's type codes.
type Type uint8

// The types of cells.
const (
	Put                 Type = 4
	Delete              Type = 8
	DeleteFamilyVersion Type = 10
	DeleteColumn        Type = 12
	DeleteFamily        Type = 14
)

// IsDelete reports whether the type is a delete marker's.
func (t Type) IsDelete() bool { return t != Put }

// Valid reports whether t is one of the types.
func (t Type) Valid() bool {
	return t == Put || t == Delete || t == DeleteFamilyVersion || t == DeleteColumn || t == DeleteFamily
}

// LatestTimestamp asks the server to set the time.
const LatestTimestamp = math.MaxInt64

// Cell is one cell. The slices of a cell that was read belong to its Row and live until that is filled again.
type Cell struct {
	Row, Family, Qualifier []byte
	Timestamp              int64
	Type                   Type
	Value                  []byte
}

// Size is the length of the cell as HBase's KeyValue, without the length in front of it.
func (c *Cell) Size() int {
	return 4 + 4 + 2 + len(c.Row) + 1 + len(c.Family) + len(c.Qualifier) + 8 + 1 + len(c.Value)
}

// Family is what a column family's settings mean for reads and compactions. Times are in milliseconds.
type Family struct {
	Name              []byte
	MaxVersions       int   // at least 1
	MinVersions       int   // kept although expired
	TTL               int64 // 0 means forever
	KeepDeleted       bool  // time ranges see behind delete markers, compactions keep them and what they hide
	PurgeDeletesAfter int64 // a major compaction keeps younger delete markers
}

// oldest is the smallest timestamp that has not expired at now.
func (f *Family) oldest(now int64) int64 {
	if f.TTL <= 0 {
		return math.MinInt64
	}
	return now - f.TTL
}

// Schema is a table's families in byte order of their names.
type Schema []*Family

// Find returns the family of that name, or nil.
func (s Schema) Find(name []byte) *Family {
	for _, f := range s {
		if string(f.Name) == string(name) {
			return f
		}
	}
	return nil
}

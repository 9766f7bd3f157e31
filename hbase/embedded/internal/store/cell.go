package store

import "math"

// Type is the type of a cell; its values are KeyValue's type codes.
type Type uint8

// The types of cells.
const (
	Put                 Type = 4
	Delete              Type = 8
	DeleteFamilyVersion Type = 10
	DeleteColumn        Type = 12
	DeleteFamily        Type = 14
)

// IsDelete reports whether t is the type of a delete marker.
func (t Type) IsDelete() bool { return t != Put }

// Valid reports whether t is one of the types.
func (t Type) Valid() bool {
	return t == Put || t == Delete || t == DeleteFamilyVersion || t == DeleteColumn || t == DeleteFamily
}

// LatestTimestamp stands for a timestamp that the server is to set.
const LatestTimestamp = math.MaxInt64

// Cell is one cell. The slices of a cell that was read belong to its Row and are valid until the Row is filled again.
type Cell struct {
	Row, Family, Qualifier []byte
	Timestamp              int64
	Type                   Type
	Value                  []byte
}

// Size returns the length of the cell as HBase's KeyValue, without the preceding length.
func (c *Cell) Size() int {
	return 4 + 4 + 2 + len(c.Row) + 1 + len(c.Family) + len(c.Qualifier) + 8 + 1 + len(c.Value)
}

// Family has the settings of a column family that matter to reads and compactions. Times are in milliseconds.
type Family struct {
	Name              []byte
	MaxVersions       int   // at least 1
	MinVersions       int   // versions kept even if expired
	TTL               int64 // 0 means forever
	KeepDeleted       bool  // time ranges see cells behind delete markers; compactions keep the markers and the cells they hide
	PurgeDeletesAfter int64 // a major compaction keeps delete markers younger than this
}

// oldest returns the smallest timestamp that has not expired at now.
func (f *Family) oldest(now int64) int64 {
	if f.TTL <= 0 {
		return math.MinInt64
	}
	return now - f.TTL
}

// Schema is a table's families in byte order of their names.
type Schema []*Family

// Find returns the family with that name, or nil.
func (s Schema) Find(name []byte) *Family {
	for _, f := range s {
		if string(f.Name) == string(name) {
			return f
		}
	}
	return nil
}

package store

import (
	"encoding/binary"
	"errors"
	"math"
)

// NoTTL is the TTL of a cell that has none.
const NoTTL = math.MaxInt64

// ErrNoTTLs is returned for a cell with a TTL if the format of the data folder cannot store it.
var ErrNoTTLs = errors.New("the data folder was written by an older version, whose cells have no TTL; start with a new folder")

// The last byte of a stored value.
const (
	noTTL    = 0x00
	hasTTL   = 0x01
	ttlBytes = 8
)

var errBadValue = errors.New("store: a value has an unknown layout: the data folder is damaged")

// appendTTL appends the TTL to a value.
func appendTTL(v []byte, ttl int64) []byte {
	if ttl == NoTTL {
		return append(v, noTTL)
	}
	return append(binary.BigEndian.AppendUint64(v, uint64(ttl)), hasTTL)
}

// cutTTL reverses appendTTL.
func cutTTL(stored []byte) (value []byte, ttl int64, err error) {
	n := len(stored) - 1
	switch {
	case n >= 0 && stored[n] == noTTL:
		return stored[:n], NoTTL, nil
	case n >= ttlBytes && stored[n] == hasTTL:
		n -= ttlBytes
		return stored[:n], int64(binary.BigEndian.Uint64(stored[n:])), nil
	}
	return nil, 0, errBadValue
}

// over reports whether a cell's own TTL has expired at now.
func over(timestamp, ttl, now int64) bool { return ttl != NoTTL && timestamp < now-ttl }

package store

import (
	"encoding/binary"
	"errors"
	"math"
)

// NoTTL is the TTL of a cell that has none of its own.
const NoTTL = math.MaxInt64

// ErrNoTTLs is returned for a cell with a TTL where the data folder has no room for it.
var ErrNoTTLs = errors.New("the data folder was made by an older version, whose cells have no TTL of their own; begin a new folder")

// What may stand in the last byte of a value.
const (
	noTTL    = 0x00
	hasTTL   = 0x01
	ttlBytes = 8
)

var errBadValue = errors.New("store: a value is not of a known layout: the data folder is damaged")

// appendTTL ends a value.
func appendTTL(v []byte, ttl int64) []byte {
	if ttl == NoTTL {
		return append(v, noTTL)
	}
	return append(binary.BigEndian.AppendUint64(v, uint64(ttl)), hasTTL)
}

// cutTTL takes apart what appendTTL ended.
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

// over reports whether a cell's own TTL is over at now.
func over(timestamp, ttl, now int64) bool { return ttl != NoTTL && timestamp < now-ttl }

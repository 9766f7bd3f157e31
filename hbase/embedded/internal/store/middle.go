package store

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// middleSamples limits the samples of MiddleRow: with n cells its result is off by about n/middleSamples cells.
const middleSamples = 1024

// MiddleRow returns the row in the middle of the cells of a range, or nil if there are fewer than two rows.
func (s *Store) MiddleRow(space Space, rows Range) (row []byte, err error) {
	l, err := s.enter()
	if err != nil {
		return nil, err
	}
	defer l.leave()
	it, err := l.db.NewIter(&pebble.IterOptions{LowerBound: rows.lower(space), UpperBound: rows.upper(space)})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	var first []byte
	var samples [][]byte // of every step-th cell
	step := 1
	for n, valid := 0, it.First(); valid; n, valid = n+1, it.Next() {
		k := it.Key()
		end, ok := endOfEscaped(k, headLen)
		if !ok {
			return nil, errBadKey
		}
		if n == 0 {
			first = append(first, k[:end]...)
		}
		if n%step == 0 {
			samples = append(samples, append([]byte{}, k[headLen:end-2]...))
		}
		if len(samples) == middleSamples {
			for i := range middleSamples / 2 {
				samples[i] = samples[2*i]
			}
			samples, step = samples[:middleSamples/2], 2*step
		}
	}
	if err := it.Error(); err != nil || len(samples) == 0 {
		return nil, err
	}
	for _, k := range samples[len(samples)/2:] {
		if string(k) != string(first[headLen:len(first)-2]) {
			return appendUnescaped([]byte{}, k), nil
		}
	}
	return nil, nil
}

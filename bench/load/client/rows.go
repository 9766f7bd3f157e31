package main

import (
	"math/rand/v2"

	"brine/bench/measure"
	"brine/hbase"
)

// rows makes the rows of a load: keys of two evenly distributed hex digits and a number, and values from a stock of noise. Its methods are
// safe for concurrent use.
type rows struct {
	columns    int
	keyBytes   int
	valueBytes int
	noise      []byte
}

const (
	noise       = 1 << 16
	minKeyBytes = 12 // two digits and any int32
	maxKeyBytes = 128
)

var family = []byte("e")

func (r *rows) fill() {
	random := rand.New(rand.NewPCG(1, 1))
	r.noise = make([]byte, 2*noise)
	for i := range r.noise {
		r.noise[i] = byte(random.Uint32())
	}
}

// add adds the i-th row to a batch.
func (r *rows) add(b *hbase.Batch, i int) {
	var room [maxKeyBytes]byte
	key := room[:r.keyBytes]
	measure.FillKey(key, i)
	b.Mutate(key)
	at := i * 61 & (noise - 1)
	for c := range r.columns {
		value := r.noise[at+r.valueBytes*c/r.columns : at+r.valueBytes*(c+1)/r.columns]
		b.Put(family, []byte{byte('a' + c)}, 1_700_000_000_000+int64(i), value)
	}
}

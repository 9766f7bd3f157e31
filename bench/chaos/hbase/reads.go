package hbase

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"brine/hbase"
)

const readTick = 2 // ticks between two reads of a slot

// reads is the result of the reads.
type reads struct {
	stalls               *stalls // when each slot was read
	all, failed, lacking atomic.Int64
}

// read reads rows that are being written until ctx is done, and compares each answer with what was acknowledged before the read began.
func (l *load) read(ctx context.Context, slot int) {
	random := rand.New(rand.NewPCG(l.seed, uint64(slots+slot)))
	clock := time.NewTicker(readTick * tick)
	defer clock.Stop()
	for began := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-clock.C:
		}
		row := hotRow(int(time.Since(began)/tick), random)
		before := l.model.fates(slot, row)
		k := key(slot, row)
		got, err := l.client.Get(ctx, table, hbase.Get{Row: k, MaxVersions: math.MaxInt32,
			Columns: []hbase.Column{{Family: family, Qualifier: version}}})
		switch {
		case ctx.Err() != nil:
			return
		case err != nil: // a disabled table refuses
			l.reads.failed.Add(1)
			continue
		}
		l.reads.all.Add(1)
		l.reads.lacking.Add(int64(lacking(k, got, before)))
		l.reads.stalls.acknowledged(slot, time.Now())
	}
}

// lacking returns the number of acknowledged mutations that an answer lacks, or has with another value.
func lacking(k []byte, r hbase.Result, before []fate) (n int) {
	there := make([]bool, len(before)+1)
	for _, c := range r.Cells {
		if i := int(c.Timestamp); i >= 1 && i < len(there) && bytes.Equal(c.Value, versionOf(k, i)) {
			there[i] = true
		}
	}
	for i, fate := range before {
		if fate == acknowledged && !there[i+1] {
			n++
		}
	}
	return n
}

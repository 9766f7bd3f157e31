package hbase

import (
	"encoding/binary"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// allocated returns the number of bytes that f allocates, including those of concurrent goroutines.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// The client does not allocate memory for servers that announce the longest permitted answers and then send nothing, one connection after
// the other.
func TestAnnouncedAnswersTakeNoMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t)
		var lies atomic.Int64
		p.answer = func(c *peerCall) *reply {
			if c.method != "Get" {
				return nil
			}
			lies.Add(1)
			return &reply{raw: binary.BigEndian.AppendUint32(nil, uint32(defaults.MaxAnswerBytes))}
		}
		c := p.open(p.options())
		var err error
		took := allocated(func() { _, err = c.Get(t.Context(), "t", Get{Row: []byte("a")}) })
		answered := lies.Load()
		if err == nil || answered < 3 {
			t.Errorf("%d lies: %v", answered, err)
		}
		const believed = 1 << 20 // of an announced length, before any data has arrived
		if most := uint64(answered) * 2 * believed; took > most {
			t.Errorf("%d bytes for %d answers that never came, want at most %d", took, answered, most)
		}
		c.Close()
		p.stop()
	})
}

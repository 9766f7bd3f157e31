package hbase

import (
	"fmt"
	"testing"

	"brine/hbase/embedded"
)

// scanEvents fills b with n mutations of one row and three cells each, as an order's scans have them: about 200 bytes.
func scanEvents(b *Batch, n, from int) {
	family, value := []byte("e"), []byte("上海转运中心 0123456789")
	qualifiers := [][]byte{[]byte("s"), []byte("a"), []byte("c")}
	var row [40]byte
	for i := range n {
		key := fmt.Appendf(row[:0], "%02x_waybill_%012d_2026", (from+i)*7919%256, from+i)
		b.Mutate(key)
		for _, q := range qualifiers {
			b.Put(family, q, int64(from+i), value)
		}
	}
}

func BenchmarkBatch(b *testing.B) {
	batch := NewBatch("t")
	b.ReportAllocs()
	for b.Loop() {
		batch.Reset("t")
		scanEvents(batch, 1000, 0)
	}
	perMutation(b, 1000)
}

func perMutation(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/mutation")
	b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "mutations/s")
}

// BenchmarkSubmit writes through lanes, calls and frames to a peer that only counts and says yes. The peer decodes with
// hbasepb, so most of the allocations reported are its.
func BenchmarkSubmit(b *testing.B) {
	var splits []string
	for i := 1; i < 16; i++ {
		splits = append(splits, fmt.Sprintf("%02x", i*16))
	}
	p := newPeer(b, splits...)
	p.answer = func(c *peerCall) *reply {
		if c.method != "Multi" {
			return nil
		}
		return &reply{param: acknowledgement(c.multi())}
	}
	benchmarkSubmit(b, p.open(p.options()))
}

// BenchmarkSubmitEmbedded writes to an embedded server in memory, in the same process and on the same cores.
func BenchmarkSubmitEmbedded(b *testing.B) {
	s := startEmbedded(b, embedded.Options{})
	c := open(b, patient("rpc://"+s.Addr()))
	var splits []string
	for i := 1; i < 16; i++ {
		splits = append(splits, fmt.Sprintf("%02x", i*16))
	}
	createTable(b, c, "t", splits...)
	benchmarkSubmit(b, c)
}

func benchmarkSubmit(b *testing.B, c *Client) {
	const size, window = 500, 8
	b.ReportAllocs()
	var flights [window]*Flight
	var batches [window]*Batch
	for i := range batches {
		batches[i] = NewBatch("t")
		scanEvents(batches[i], size, i*size)
	}
	n := 0
	for b.Loop() {
		i := n % window
		if flights[i] != nil {
			if failed, err := flights[i].Wait(b.Context()); err != nil || failed != nil {
				b.Fatal(failed, err)
			}
		}
		flights[i] = c.Submit(b.Context(), batches[i])
		n++
	}
	for _, f := range flights {
		if f != nil {
			<-f.Done()
		}
	}
	perMutation(b, size)
}

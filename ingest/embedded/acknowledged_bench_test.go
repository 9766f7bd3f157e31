package embedded

import "testing"

// BenchmarkAcknowledge measures what acknowledging adds to an answer to a producer in a folder, which also takes two fsyncs.
func BenchmarkAcknowledge(b *testing.B) {
	a, err := newAcknowledgements(b.TempDir(), func(err error) { b.Error(err) })
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		a.acknowledge("courier.scans", 0, int64(i))
	}
}

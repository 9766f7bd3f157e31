package broker

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestTrimIsThatOfOtherClients checks that another library can read the request and writes the answer.
func TestTrimIsThatOfOtherClients(t *testing.T) {
	call := trimCall{topic: "a.dead", partition: 3, before: 1 << 40, timeout: 5000, client: "brine", version: trimVersion}
	q := kmsg.NewPtrDeleteRecordsRequest()
	q.SetVersion(trimVersion)
	head := 4 + 2 + 2 + 4 + 2 + len("brine")
	if err := q.ReadFrom(call.request()[head:]); err != nil {
		t.Fatal(err)
	}
	if len(q.Topics) != 1 || q.Topics[0].Topic != "a.dead" || len(q.Topics[0].Partitions) != 1 || q.TimeoutMillis != 5000 {
		t.Fatalf("%+v", q)
	}
	if p := q.Topics[0].Partitions[0]; p.Partition != 3 || p.Offset != 1<<40 {
		t.Errorf("%+v", p)
	}
	if a, err := parseTrim(trimmed(1<<41, 29)); err != nil || a.low != 1<<41 || a.code != 29 {
		t.Errorf("%+v, %v", a, err)
	}
}

// trimmed returns an answer as a broker writes it.
func trimmed(low int64, code int16) []byte {
	r := kmsg.NewPtrDeleteRecordsResponse()
	r.SetVersion(trimVersion)
	r.Topics = []kmsg.DeleteRecordsResponseTopic{{Topic: "a.dead", Partitions: []kmsg.DeleteRecordsResponseTopicPartition{{Partition: 3, LowWatermark: low, ErrorCode: code}}}}
	return r.AppendTo(nil)
}

func FuzzTrimAnswer(f *testing.F) {
	f.Add(trimmed(7, 0))
	f.Add(trimmed(7, 0)[:9])
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := parseTrim(b)
		if (a == nil) == (err == nil) {
			t.Errorf("%v, %v", a, err)
		}
	})
}

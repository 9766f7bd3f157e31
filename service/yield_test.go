package service_test

import (
	"strings"
	"testing"

	"brine/service"
	"brine/service/reload"
)

// TestDocumentsGiveWayToRows checks that while rows are behind on a busy machine, the documents of the same process are slowed down, report
// it, and do not count as stalled; that a changed gives_way takes effect at once; and that nothing is slowed down once the rows have caught
// up.
func TestDocumentsGiveWayToRows(t *testing.T) {
	t.Parallel()
	r := startWith(t, lines, service.Options{Busy: func() float64 { return 1 }})
	r.Half("moving.rows").Ingest().Pace.Bound(400) // rows that are slow because the machine is busy
	r.publish("moving", 0, 12_000)
	held := func() bool { return r.StatusOf(r.Half("moving.documents")).State == "yielding" }
	r.wait("documents give way", held)
	if _, body := get(t, r.URL()+"/metrics"); !strings.Contains(body, `brine_ingest_yields_records{half="documents",pipeline="moving"} `) ||
		strings.Contains(body, `brine_ingest_yields_records{half="documents",pipeline="moving"} 0`) {
		t.Error("the metrics do not say that documents give way")
	}
	half := r.Half("moving.documents")
	r.reload(strings.Replace(lines, "topic: moving\n", "topic: moving\n    gives_way: nobody\n", 1), reload.Applied)
	r.wait("nobody gives way", func() bool { return !held() })
	if r.Half("moving.documents") != half {
		t.Error("who gives way took another loop")
	}
	r.reload(lines, reload.Applied)
	r.Half("moving.rows").Ingest().Pace.Bound(0)
	r.settled("moving.rows", 12_000)
	r.settled("moving.documents", 12_000)
	r.wait("nothing is held", func() bool { return !held() })
	if !strings.Contains(r.log.String(), `msg="pipeline throttled: others are behind, and the machine is busy" pipeline=moving.documents`) {
		t.Error("the log does not say that a pipeline gives way")
	}
}

package reindex

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"brine/indexer"
	bleve "brine/indexer/embedded"
)

// purged counts the purges of an engine.
type purged struct {
	*bleve.Engine
	calls atomic.Int32
}

func (p *purged) Purge(ctx context.Context, index string, before int64) (int, error) {
	p.calls.Add(1)
	return p.Engine.Purge(ctx, index, before)
}

// TestReindexPurgesNothing checks that only the pipeline purges deletes, because it has made sure that it may.
func TestReindexPurgesNothing(t *testing.T) {
	w := filled(t, indexer.Whole, 300)
	w.source.Documents.Documents = slices.Clone(w.source.Documents.Documents) // the live writer's stay as they were
	w.source.Documents.Documents[0].Purge = time.Hour
	for _, from := range []From{FromHBase, FromTopic} {
		o := w.options(from)
		engine := &purged{Engine: w.engine.(*bleve.Engine)}
		o.Engine = engine
		if err := w.reindex(o).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := engine.calls.Load(); n != 0 {
			t.Errorf("from %s: documents were to be removed %d times", from, n)
		}
		same(t, w.documents(w.name), w.expected())
	}
}

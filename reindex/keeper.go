package reindex

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"brine/indexer"
	"brine/internal/backoff"
	"brine/search"
)

// stateIndex holds a document for each index that is, or was, rebuilt. Each save of one requires the previous one (if_seq_no), so that a
// process whose work another has taken over cannot save, and stops.
const (
	stateIndex = "brine-reindex"
	stateField = "state"
)

// keeper stores the state. Its goroutine is keep.
type keeper struct {
	engine indexer.Engine
	id     []byte
	owner  string
	lease  time.Duration

	saving sync.Mutex // one save at a time
	seq    int64
	term   int64
	stored bool // the document exists

	leaving bool // keep has ended

	mu    sync.Mutex
	state *state
}

func newKeeper(o *Options) *keeper {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return &keeper{engine: o.Engine, id: []byte(o.Index), lease: o.Lease,
		owner: fmt.Sprintf("process %d on %s (%s)", os.Getpid(), host, rand.Text()[:8])}
}

// update changes the state; the next save stores the change.
func (k *keeper) update(change func(*state)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change(k.state)
}

// load reads the stored state, or returns nil if there is none.
func (k *keeper) load(ctx context.Context) (*state, error) {
	docs := make([]indexer.Stored, 1)
	if err := k.engine.Get(ctx, []indexer.Ref{{Index: stateIndex, ID: k.id}}, docs); err != nil {
		return nil, fmt.Errorf("index %s: %w", stateIndex, err)
	}
	if k.stored = docs[0].Found; !k.stored {
		return nil, nil
	}
	k.seq, k.term = docs[0].SeqNo, docs[0].PrimaryTerm
	var source map[string]any
	if err := json.Unmarshal(docs[0].Source, &source); err != nil {
		return nil, err
	}
	text, _ := source[stateField].(string)
	return decodeState([]byte(text))
}

// ensure creates the index for states.
func (k *keeper) ensure(ctx context.Context) error {
	m := indexer.Mapping{Index: stateIndex, Fields: []indexer.Field{{Name: stateField, Type: indexer.Text}}}
	if err := k.engine.EnsureIndex(ctx, m); err != nil {
		return fmt.Errorf("the index %s, where the progress is kept: %w", stateIndex, err)
	}
	return nil
}

// find reads the stored state without creating the index for it.
func (k *keeper) find(ctx context.Context) (*state, error) {
	if _, err := k.engine.Mapping(ctx, stateIndex); errors.Is(err, search.ErrNoIndex) {
		return nil, nil
	}
	return k.load(ctx)
}

// alive reports whether another process is alive: a live one saves several times per lease. One save is not enough, because it may be the
// last that a dead process has sent. The clocks of the processes are not compared.
func (k *keeper) alive(ctx context.Context) (bool, error) {
	const signs, looks = 2, 5
	for seen, quiet := 0, 0; seen < signs; {
		before := k.seq
		if err := backoff.Wait(ctx, k.lease/looks); err != nil {
			return false, err
		}
		if _, err := k.load(ctx); err != nil {
			return false, err
		}
		if quiet++; k.seq != before {
			seen, quiet = seen+1, 0
		}
		if quiet == looks {
			return false, nil
		}
	}
	return true, nil
}

// take makes this process the owner of the state.
func (k *keeper) take(ctx context.Context, s *state) error {
	k.mu.Lock()
	k.state = s
	k.state.Owner = k.owner
	k.mu.Unlock()
	return k.save(ctx)
}

// leave records that the work has stopped properly, so that the next process need not wait.
func (k *keeper) leave(ctx context.Context) error {
	k.leaving = true
	k.update(func(s *state) { s.Owner = "" })
	if err := k.save(ctx); err != nil {
		return fmt.Errorf("index %s: could not record that this process has left, so the next one will wait %v for it: %w",
			stateIndex, k.lease, err)
	}
	return nil
}

// keep saves the state several times per lease until ctx ends, and cancels the work if another process has taken it over.
func (k *keeper) keep(ctx context.Context, stop context.CancelCauseFunc) {
	for backoff.Wait(ctx, k.lease/5) == nil {
		if err := k.save(ctx); err != nil && ctx.Err() == nil {
			stop(err)
			return
		}
	}
}

// save writes the state, if the stored one is as this process left it. It retries until the engine answers.
func (k *keeper) save(ctx context.Context) error {
	k.saving.Lock()
	defer k.saving.Unlock()
	k.mu.Lock()
	text, err := json.Marshal(k.state)
	k.mu.Unlock()
	if err != nil {
		return err
	}
	source, err := json.Marshal(map[string]any{indexer.FieldRow: string(k.id), indexer.FieldVersion: 1, stateField: string(text)})
	if err != nil {
		return err
	}
	for attempt := 0; ; attempt++ {
		saved, err := k.write(ctx, source)
		if saved || err != nil {
			return err
		}
		if err := backoff.Wait(ctx, backoff.Exponential(100*time.Millisecond, k.lease/2, attempt)); err != nil {
			return err
		}
	}
}

// write makes one attempt to save. After a failure that may be retried, it returns false and no error.
func (k *keeper) write(ctx context.Context, source []byte) (saved bool, err error) {
	op := indexer.Op{Kind: indexer.Create, Index: stateIndex, ID: k.id, Source: source}
	if k.stored {
		op.Kind, op.SeqNo, op.PrimaryTerm = indexer.Replace, k.seq, k.term
	}
	results := make([]indexer.Result, 1)
	err = k.engine.Bulk(ctx, []indexer.Op{op}, results)
	switch status := results[0].Status; {
	case err == nil && status < 300 && status > 0:
		k.stored, k.seq, k.term = true, results[0].SeqNo, results[0].PrimaryTerm
		return true, nil
	case err == nil && status >= 400 && status < 500 && status != http.StatusConflict && status != http.StatusTooManyRequests:
		return false, fmt.Errorf("index %s: %w", stateIndex, &indexer.RequestError{Status: status, Kind: results[0].Kind,
			Reason: results[0].Reason})
	}
	// The document may have been written, or another process may have written it.
	found, before := k.stored, k.seq
	kept, err := k.load(ctx)
	switch {
	case err != nil:
		k.stored, k.seq = found, before // the next attempt decides
		return false, ctx.Err()
	case kept == nil || k.seq == before && found || kept.Owner == k.owner || k.leaving && kept.Owner == "":
		return false, nil
	}
	return false, fmt.Errorf("%w: %s", ErrTaken, cmp.Or(kept.Owner, "it is done"))
}

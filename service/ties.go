package service

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"brine/event"
	"brine/mask"
	"brine/rowkey"
	"brine/sink"
)

const tieWarningEvery = time.Minute

// tieWarnings logs changes that tie, once a minute per table, with the number of cells and an example.
type tieWarnings struct {
	pipeline string
	fix      string
	log      *slog.Logger
	masks    *mask.Rules

	mu     sync.Mutex
	tables map[string]*tieCount
	cells  int64
	before int64 // of the half that this one replaced
}

// newTieWarnings returns the warnings about a pipeline's rows. fix is what to do about ties.
func newTieWarnings(pipeline, fix string, masks *mask.Rules, log *slog.Logger) *tieWarnings {
	return &tieWarnings{pipeline: pipeline, fix: fix, masks: masks, log: log, tables: map[string]*tieCount{}}
}

type tieCount struct {
	warned time.Time
	since  int // ties since then
}

// watch wraps the counting hook to log the warnings.
func (w *tieWarnings) watch(hooks sink.Hooks) sink.Hooks {
	counted := hooks.Tie
	hooks.Tie = func(t sink.TieInfo) {
		counted(t)
		w.seen(t)
	}
	return hooks
}

func (w *tieWarnings) seen(t sink.TieInfo) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cells++
	of := w.tables[t.Table]
	if of == nil {
		of = new(tieCount)
		w.tables[t.Table] = of
	}
	of.since++
	if time.Since(of.warned) < tieWarningEvery {
		return
	}
	what := "changes tie in their version, so the order of application decides which wins"
	column := rowkey.Binary(t.Family) + ":" + rowkey.Binary(t.Qualifier)
	if t.Family == nil {
		what, column = "a delete and another change have the same version, and the delete wins", ""
	}
	w.log.Warn(what+"; "+w.fix, "pipeline", w.pipeline, "table", t.Table, "cells", of.since,
		"row", mask.If(w.masks.MasksKey(t.Table), rowkey.Binary(t.Row)),
		"column", column, "version", t.Version,
		"topic", t.Record.Topic, "records", tiedRecords(t.Partition, t.Offset, t.Record))
	of.warned, of.since = time.Now(), 0
}

// tiedRecords names two records of a topic by partition:offset, the one applied last in second place.
func tiedRecords(partition int, offset int64, last *event.Record) string {
	return fmt.Sprintf("%d:%d and %d:%d", partition, offset, last.Partition, last.Offset)
}

// count returns the number of cells seen so far.
func (w *tieWarnings) count() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.before + w.cells
}

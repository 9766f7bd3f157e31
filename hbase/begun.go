package hbase

import (
	"errors"
	"fmt"
	"time"

	"brine/hbase/internal/remote"
)

// BegunError is why the end of a change was not seen that the servers have begun, or may have: it may still complete.
type BegunError struct {
	Procedure uint64 // of the master's, which works on it; 0: none is known
	Maybe     bool   // whether it was begun is unknown: it was sent, and not answered
	Err       error
}

func (e *BegunError) Error() string {
	switch {
	case e.Maybe:
		return fmt.Sprintf("it may have been begun, and may still complete: %v", e.Err)
	case e.Procedure == 0:
		return fmt.Sprintf("it was begun, and may still complete: %v", e.Err)
	}
	return fmt.Sprintf("it was begun, as procedure %d of the master (list_procedures of the HBase shell shows it), and may still complete: %v",
		e.Procedure, e.Err)
}

func (e *BegunError) Unwrap() error { return e.Err }

// begun says in an error of a call that the change which it waits for was begun.
func begun(procedure uint64, err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		e.Err = &BegunError{Procedure: procedure, Err: e.Err}
	}
	return err
}

// maybeBegun says in the error of a change that it may have been begun, if a try of it was sent and never refused.
func (t *tries) maybeBegun(err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || !t.doubt {
		return err
	}
	if refusal, answered := errors.AsType[*remote.Exception](err); answered && (refusal.DoNotRetry || remote.Diagnose(refusal).Final()) {
		return err
	}
	e.Err = &BegunError{Maybe: true, Err: e.Err}
	return err
}

// ProcedureInfo is a change that the master works on.
type ProcedureInfo struct {
	Op    string // split region … of, create table …
	Table string
	ID    uint64
	For   time.Duration // so far
}

// runningEvery is how often Hooks.Running is called for one change.
const runningEvery = 5 * time.Second

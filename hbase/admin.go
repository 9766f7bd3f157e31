package hbase

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/remote"
	"brine/hbase/internal/rpc"
	"brine/internal/backoff"

	"google.golang.org/protobuf/proto"
)

// nonces identify an admin call, so that the master does it once however often it is sent.
func nonces() (group, nonce *uint64) { return proto.Uint64(rand.Uint64()), proto.Uint64(rand.Uint64()) }

// Master returns the address of the active master, asking once. The error Is ErrNoMaster when there is none or it does not answer within
// DialTimeout: admin calls would wait for it then, while rows are written and read. A master that is starting is there.
func (c *Client) Master(ctx context.Context) (addr string, err error) {
	ctx, cancel := c.joined(ctx)
	defer cancel()
	if addr, err = c.locator.Master(ctx); err == nil {
		brief, cancel := context.WithTimeout(ctx, c.opts.DialTimeout)
		defer cancel()
		_, err = c.servers.Call(brief, rpc.MasterService.At(addr), "IsMasterRunning",
			&hbasepb.IsMasterRunningRequest{}, new(hbasepb.IsMasterRunningResponse))
		if _, answered := errors.AsType[*remote.Exception](err); err == nil || answered {
			return addr, nil
		}
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	return "", fmt.Errorf("%w: %w", ErrNoMaster, err)
}

// master calls the active master, finding it again when it has moved.
func (c *Client) master(ctx context.Context, op, table, method string, in, out proto.Message) error {
	return c.askMaster(ctx, c.newTries(op, table), method, in, out)
}

func (c *Client) askMaster(ctx context.Context, t *tries, method string, in, out proto.Message) error {
	t.admin = true
	return t.run(ctx, func(ctx context.Context) (*Region, error) {
		addr := c.masterAddr.Load()
		if addr == nil {
			found, err := c.locator.Master(ctx)
			if err != nil {
				return nil, err
			}
			addr = &found
			c.masterAddr.Store(addr)
		}
		_, err := c.servers.Call(ctx, rpc.MasterService.At(*addr), method, in, out)
		t.doubt = t.doubt || outcomeUnknown(err)
		d := remote.Diagnose(err)
		if d.Class == remote.Package+"UnknownRegionException" {
			err = &remote.Permanent{Err: err} // a region server may have lost it for a while; the master knows
		} else if err != nil && d.Remedy != remote.GiveUp {
			c.masterAddr.CompareAndSwap(addr, nil)
		}
		return nil, err
	})
}

// starter is the answer to a call that begins a procedure of the master's.
type starter interface {
	proto.Message
	GetProcId() uint64
}

// maxPoll is the longest pause between two polls of a procedure.
const maxPoll = time.Second

// procedure begins a procedure and waits for its end. An exception that it ended with is the error. One whose end is not seen is a
// BegunError, as the caller's own context may end before the procedure does.
func (c *Client) procedure(ctx context.Context, op, table, method string, in proto.Message, out starter) error {
	t := c.newTries(op, table)
	if err := c.askMaster(ctx, t, method, in, out); err != nil {
		return t.maybeBegun(err)
	}
	return c.await(ctx, op, table, out.GetProcId())
}

// await waits for a procedure's end.
func (c *Client) await(ctx context.Context, op, table string, id uint64) error {
	since, reported := time.Now(), time.Duration(0)
	for polls := 0; ; polls++ {
		var result hbasepb.GetProcedureResultResponse
		if err := c.master(ctx, op, table, "getProcedureResult", &hbasepb.GetProcedureResultRequest{ProcId: &id}, &result); err != nil {
			return begun(id, err)
		}
		if e := result.GetException().GetGenericException(); e != nil {
			err := &remote.Exception{Server: "the master's procedure", Class: e.GetClassName(), Text: e.GetMessage()}
			return &Error{Op: op, Table: table, Class: err.Class, Attempts: 1, Err: err}
		}
		// Not found means done so long ago that the master has forgotten it.
		if result.GetState() != hbasepb.GetProcedureResultResponse_RUNNING {
			return nil
		}
		if waited := time.Since(since); waited-reported >= runningEvery {
			reported = waited
			c.opts.Hooks.Running(ProcedureInfo{Op: op, Table: table, ID: id, For: waited})
		}
		if err := backoff.Wait(ctx, min(backoff.HBase(c.opts.Pause, polls), maxPoll)); err != nil {
			return begun(id, &Error{Op: op, Table: table, Attempts: 1, Err: err})
		}
	}
}

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

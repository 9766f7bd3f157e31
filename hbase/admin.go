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

// nonces returns a nonce group and a nonce for an admin call, so that the master applies it once however often it is sent.
func nonces() (group, nonce *uint64) { return proto.Uint64(rand.Uint64()), proto.Uint64(rand.Uint64()) }

// Master returns the address of the active master. It asks once and does not retry. The error wraps ErrNoMaster if there is no master or it
// does not answer within DialTimeout; admin calls would wait for it, while reads and writes of rows need no master. A master that is
// starting counts as present.
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

// master calls the active master and finds it again after it has moved.
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
			err = &remote.Permanent{Err: err} // a region server may have lost it for a while, but the master knows
		} else if err != nil && d.Remedy != remote.GiveUp {
			c.masterAddr.CompareAndSwap(addr, nil)
		}
		return nil, err
	})
}

// starter is the answer to a call that starts a master procedure.
type starter interface {
	proto.Message
	GetProcId() uint64
}

// maxPoll is the longest pause between two polls of a procedure.
const maxPoll = time.Second

// procedure starts a procedure and waits for it to end. If the procedure failed, it returns the procedure's exception. If the end was not
// seen, it returns a BegunError, because the caller's context may end before the procedure does.
func (c *Client) procedure(ctx context.Context, op, table, method string, in proto.Message, out starter) error {
	t := c.newTries(op, table)
	if err := c.askMaster(ctx, t, method, in, out); err != nil {
		return t.maybeBegun(err)
	}
	return c.await(ctx, op, table, out.GetProcId())
}

// await waits for a procedure to end.
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
		// Not found means that it finished so long ago that the master has forgotten it.
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

// BegunError reports a change that the servers have started, or may have started, and whose end was not seen. It may still complete.
type BegunError struct {
	Procedure uint64 // master procedure that does the work; 0 if unknown
	Maybe     bool   // unknown whether it was started: it was sent and not answered
	Err       error
}

func (e *BegunError) Error() string {
	switch {
	case e.Maybe:
		return fmt.Sprintf("it may have been started, and may still complete: %v", e.Err)
	case e.Procedure == 0:
		return fmt.Sprintf("it was started, and may still complete: %v", e.Err)
	}
	return fmt.Sprintf("it was started, as procedure %d of the master (see list_procedures in the HBase shell), and may still complete: %v",
		e.Procedure, e.Err)
}

func (e *BegunError) Unwrap() error { return e.Err }

// begun wraps the cause of a call's error in a BegunError: the change that the call waited for was started.
func begun(procedure uint64, err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		e.Err = &BegunError{Procedure: procedure, Err: e.Err}
	}
	return err
}

// maybeBegun wraps the cause of err in a BegunError if a try was sent and never refused, so that the change may have been started.
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

// ProcedureInfo describes a change that the master is working on.
type ProcedureInfo struct {
	Op    string // split region … of, create table …
	Table string
	ID    uint64
	For   time.Duration // time so far
}

// runningEvery is the interval at which Hooks.Running is called for a change.
const runningEvery = 5 * time.Second

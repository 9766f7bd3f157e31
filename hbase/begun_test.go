package hbase

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// If the waiting ends while the master works on a change, the error says that the change was begun, as which procedure, and that it may
// still complete. If the change was sent and never answered, it may have been started. If it was refused or never sent, the error says
// neither.
func TestAChangeThatWasBegunSaysSo(t *testing.T) {
	running := &hbasepb.GetProcedureResultResponse{State: hbasepb.GetProcedureResultResponse_RUNNING.Enum()}
	region := Region{Table: "t", ID: 1, Encoded: "e1"}
	merge := func(ctx context.Context, c *Client) error { return c.MergeRegions(ctx, region, region) }
	for _, tt := range []struct {
		name   string
		do     func(context.Context, *Client) error
		answer map[string]*reply // by method
		begun  BegunError
		text   string // of the error; "-": not a BegunError
	}{
		{"a merge goes on and nobody waits", merge, map[string]*reply{
			"MergeTableRegions": {param: &hbasepb.MergeTableRegionsResponse{ProcId: proto.Uint64(17)}}, "getProcedureResult": {param: running},
		}, BegunError{Procedure: 17}, "merge regions of t: it was started, as procedure 17 of the master"},
		{"a create goes on and the master is silent", func(ctx context.Context, c *Client) error { return c.CreateTable(ctx, Table{Name: "t"}, nil) },
			map[string]*reply{
				"CreateTable": {param: &hbasepb.CreateTableResponse{ProcId: proto.Uint64(5)}}, "getProcedureResult": {silent: true},
			}, BegunError{Procedure: 5}, "create table t (after 4 tries): it was started, as procedure 5 of the master"},
		{"a split is not answered", func(ctx context.Context, c *Client) error { return c.SplitRegion(ctx, region, nil) },
			map[string]*reply{"SplitRegion": {silent: true}}, BegunError{Maybe: true}, "split region e1 of t (after 4 tries): it may have been started, and may still complete"},
		{"a split is refused", func(ctx context.Context, c *Client) error { return c.SplitRegion(ctx, region, nil) },
			map[string]*reply{"SplitRegion": exception("DoNotRetryIOException", "no")}, BegunError{}, "-"},
		{"a compaction is not answered", compactFirst, map[string]*reply{"CompactRegion": {silent: true}}, BegunError{Maybe: true},
			": it may have been started, and may still complete"},
		{"a flush is cut off", flushFirst, map[string]*reply{"FlushRegion": {drop: true}}, BegunError{Maybe: true},
			": it may have been started, and may still complete"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPeer(t)
				p.answer = func(c *peerCall) *reply { return tt.answer[c.method] }
				opts := p.options()
				opts.Patience = 7 * time.Second
				if tt.answer["FlushRegion"] != nil {
					opts.Patience, opts.Retries = 0, 3
				}
				c := p.open(opts)
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				err := tt.do(ctx, c)
				b, is := errors.AsType[*BegunError](err)
				switch {
				case err == nil || is == (tt.text == "-"):
					t.Errorf("%v", err)
				case is && (b.Procedure != tt.begun.Procedure || b.Maybe != tt.begun.Maybe || !strings.Contains(err.Error(), tt.text)):
					t.Errorf("%v, %+v", err, b)
				}
				c.Close()
				p.stop()
			})
		})
	}
}

func flushFirst(ctx context.Context, c *Client) error {
	r, err := c.locator.Find(ctx, "t", nil)
	if err != nil {
		return err
	}
	return c.FlushRegion(ctx, *r)
}

func compactFirst(ctx context.Context, c *Client) error {
	r, err := c.locator.Find(ctx, "t", nil)
	if err != nil {
		return err
	}
	return c.CompactRegion(ctx, *r, true)
}

// A change that takes long is reported every few seconds.
func TestAChangeThatTakesLongIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t)
		began := time.Now()
		p.answer = func(c *peerCall) *reply {
			switch c.method {
			case "MergeTableRegions":
				return &reply{param: &hbasepb.MergeTableRegionsResponse{ProcId: proto.Uint64(17)}}
			case "getProcedureResult":
				state := hbasepb.GetProcedureResultResponse_RUNNING
				if time.Since(began) > 17*time.Second {
					state = hbasepb.GetProcedureResultResponse_FINISHED
				}
				return &reply{param: &hbasepb.GetProcedureResultResponse{State: &state}}
			}
			return nil
		}
		var reports []ProcedureInfo
		opts := p.options()
		opts.Patience = time.Second // per answer
		opts.Hooks.Running = func(i ProcedureInfo) { reports = append(reports, i) }
		c := p.open(opts)
		if err := c.MergeRegions(t.Context(), Region{Table: "t", Encoded: "a"}, Region{Table: "t", Encoded: "b"}); err != nil {
			t.Error(err)
		}
		if len(reports) != 3 || reports[0].Op != "merge regions of" || reports[0].Table != "t" || reports[2].ID != 17 || reports[2].For < 15*time.Second {
			t.Errorf("%+v", reports)
		}
		c.Close()
		p.stop()
	})
}

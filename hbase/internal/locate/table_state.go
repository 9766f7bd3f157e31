package locate

import (
	"context"
	"fmt"
	"time"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/remote"
	"brine/hbase/internal/rpc"

	"google.golang.org/protobuf/proto"
)

// enabledFor is how long a table that was seen not disabled is assumed to be so.
const enabledFor = 100 * time.Millisecond

// Disabled asks hbase:meta whether a table is disabled: then its regions are on no server, and waiting for them is pointless. Callers that
// ask while the same question is pending share its answer, and a table that was not disabled a moment ago is not checked again, because
// many regions may fail at once.
func (l *Locator) Disabled(ctx context.Context, table string) (bool, error) {
	if at, ok := l.enabled.Load(table); ok && time.Since(at.(time.Time)) < enabledFor {
		return false, nil
	}
	done := l.states.DoChan(table, func() (any, error) {
		ctx, cancel := context.WithTimeout(l.ctx, l.patience)
		defer cancel()
		disabled, err := l.readDisabled(ctx, table)
		if err == nil && !disabled {
			l.enabled.Store(table, time.Now())
		}
		return disabled, err
	})
	select {
	case r := <-done:
		return r.Val.(bool), r.Err
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

func (l *Locator) readDisabled(ctx context.Context, table string) (bool, error) {
	meta, err := l.FindMeta(ctx)
	if err != nil {
		return false, err
	}
	state, err := l.readState(ctx, meta, table)
	return state.GetState() == hbasepb.TableState_DISABLED || state.GetState() == hbasepb.TableState_DISABLING, err
}

// Exists returns remote.ErrNoTable if there is no such table.
func (l *Locator) Exists(ctx context.Context, table string) error {
	ctx, cancel := context.WithTimeout(ctx, l.patience)
	defer cancel()
	meta, err := l.FindMeta(ctx)
	if err != nil {
		return err
	}
	return l.exists(ctx, meta, table)
}

// exists returns remote.ErrNoTable if hbase:meta does not have the state of a table. A table that has one but lacks regions does exist: the
// master replaces their rows while it restores a snapshot, for example, or the first region may be missing alone.
func (l *Locator) exists(ctx context.Context, meta *Region, table string) error {
	state, err := l.readState(ctx, meta, table)
	if err == nil && state == nil {
		err = fmt.Errorf("%w: %s has neither a state nor regions in hbase:meta", remote.ErrNoTable, table)
	}
	return err
}

// readState returns the state of a table in hbase:meta, or nil if it has none: there is no such table, or HBase is older than 2.0.
func (l *Locator) readState(ctx context.Context, meta *Region, table string) (*hbasepb.TableState, error) {
	in := &hbasepb.GetRequest{Region: Specifier(meta), Get: &hbasepb.Get{
		Row: []byte(table), Column: []*hbasepb.Column{{Family: []byte("table"), Qualifier: [][]byte{[]byte("state")}}},
	}}
	var out hbasepb.GetResponse
	cells, err := l.servers.Call(ctx, rpc.ClientService.At(meta.Server), "Get", in, &out)
	if err != nil {
		return nil, err
	}
	row, _, err := rpc.DecodeResult(out.GetResult(), cells)
	if err != nil {
		return nil, remote.Invalid(meta.Server, err)
	}
	if len(row.Cells) == 0 {
		return nil, nil
	}
	state := new(hbasepb.TableState)
	if err := proto.Unmarshal(row.Cells[0].Value, state); err != nil {
		return nil, remote.Invalid(meta.Server, fmt.Errorf("state of table %s: %w", table, err))
	}
	return state, nil
}

package hbase

import (
	"context"
	"fmt"
	"time"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// enabledFor is for how long a table that was seen not to be disabled is taken to be so still.
const enabledFor = 100 * time.Millisecond

// tableDisabled asks hbase:meta whether a table is disabled: its regions are then nowhere, and waiting for them is in vain. Who asks
// while another's question is on its way takes its answer, and a table that was not disabled a moment ago is not asked about: many
// regions may fail at once.
func (l *locator) tableDisabled(ctx context.Context, table string) (bool, error) {
	if at, ok := l.enabled.Load(table); ok && time.Since(at.(time.Time)) < enabledFor {
		return false, nil
	}
	done := l.states.DoChan(table, func() (any, error) {
		ctx, cancel := context.WithTimeout(l.servers.ctx, l.servers.opts.DialTimeout)
		defer cancel()
		disabled, err := l.askDisabled(ctx, table)
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

func (l *locator) askDisabled(ctx context.Context, table string) (bool, error) {
	meta, err := l.findMeta(ctx)
	if err != nil {
		return false, err
	}
	in := &hbasepb.GetRequest{Region: meta.specifier(), Get: &hbasepb.Get{
		Row: []byte(table), Column: []*hbasepb.Column{{Family: []byte("table"), Qualifier: [][]byte{[]byte("state")}}},
	}}
	var out hbasepb.GetResponse
	cells, err := l.servers.call(ctx, endpoint{meta.Server, clientService}, "Get", in, &out)
	if err != nil {
		return false, err
	}
	row, _, err := resultOf(out.GetResult(), cells)
	if err != nil {
		return false, invalid(meta.Server, err)
	}
	if len(row.Cells) == 0 {
		return false, nil
	}
	var state hbasepb.TableState
	if err := proto.Unmarshal(row.Cells[0].Value, &state); err != nil {
		return false, invalid(meta.Server, fmt.Errorf("state of table %s: %w", table, err))
	}
	return state.GetState() == hbasepb.TableState_DISABLED || state.GetState() == hbasepb.TableState_DISABLING, nil
}

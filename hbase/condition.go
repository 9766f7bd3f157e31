package hbase

import (
	"context"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/locate"
	"brine/hbase/internal/pipeline"
	"brine/hbase/internal/remote"
	"brine/hbase/internal/rpc"
	"brine/hbase/internal/wire"

	"google.golang.org/protobuf/proto"
)

// Condition is what CheckAndMutate requires of a row: how the newest value of a column compares, or that a filter accepts something in the
// row. IfEquals, IfAbsent, IfValue and IfFilter return conditions.
type Condition struct {
	Family, Qualifier []byte
	Op                CompareOp
	Value             []byte
	Filter            Filter // instead of the fields above
	From, To          int64  // only cells in the time range [From, To); both 0 means all
}

// IfEquals requires a column to have the given value.
func IfEquals(family, qualifier, value []byte) Condition {
	return IfValue(family, qualifier, Equal, value)
}

// IfAbsent requires a column to have no value or an empty one: HBase does not distinguish the two.
func IfAbsent(family, qualifier []byte) Condition {
	return IfValue(family, qualifier, Equal, nil)
}

// IfValue requires the bytes of a column's value to compare as given: stored Less value, and so on. A column without a value meets only a
// comparison to an empty value. For other comparisons see IfFilter.
func IfValue(family, qualifier []byte, op CompareOp, value []byte) Condition {
	return Condition{Family: family, Qualifier: qualifier, Op: op, Value: value}
}

// IfFilter requires a filter to accept at least one cell of the row.
func IfFilter(f Filter) Condition { return Condition{Filter: f} }

func (q *Condition) message(row []byte) (*hbasepb.Condition, error) {
	m := &hbasepb.Condition{Row: row, TimeRange: timeRange(q.From, q.To)}
	var err error
	if q.Filter != nil {
		m.Filter, err = q.Filter.message()
		return m, err
	}
	m.Family, m.Qualifier, m.CompareType = q.Family, q.Qualifier, q.Op.mirrored()
	m.Comparator, err = Bytes(q.Value).comparator() // servers treat every other comparator as this one
	return m, err
}

// MutateRow applies the mutations of a batch, which must all be of one row, atomically: a reader sees all of them or none, and a crash
// leaves all or none. They may be puts and deletes. HBase's rule applies to cells of equal coordinates, not their order: a delete hides a
// put of its version.
//
// MutateRow does not wait for mutations in the lanes: only versions order it relative to mutations that were submitted and not yet
// answered. Like every mutation with timestamps it is idempotent, so it is sent again after any failure that may pass. If the last failure
// may have been applied, the error wraps ErrUnknownOutcome.
func (c *Client) MutateRow(ctx context.Context, b *Batch) error {
	_, err := c.mutateRow(ctx, "mutate row", b, nil, func(_, _ *Region) bool { return true })
	return err
}

// CheckAndMutate applies the mutations of a batch, like MutateRow, if their row meets the condition, and reports whether it did. The check
// and the mutations are atomic.
//
// It is sent again only if it certainly was not applied, because a second try would find the row as the first one left it. Otherwise the
// error wraps ErrUnknownOutcome, and reading the row shows the outcome.
func (c *Client) CheckAndMutate(ctx context.Context, b *Batch, condition Condition) (applied bool, err error) {
	return c.mutateRow(ctx, "check and mutate", b, &condition, never)
}

func (c *Client) mutateRow(ctx context.Context, op string, b *Batch, condition *Condition, again repeat) (applied bool, err error) {
	action, cells, err := pipeline.RowAction(b, c.opts.MaxCellBytes)
	if err == nil && condition != nil {
		action.Condition, err = condition.message(b.Row(0))
	}
	if err != nil {
		return false, &Error{Op: op, Table: b.Table(), Attempts: 1, Err: err}
	}
	err = c.change(ctx, op, b.Table(), b.Row(0), again, func(ctx context.Context, r *Region) error {
		action.Region = locate.Specifier(r)
		applied, err = c.mutateRowOnce(ctx, r, action, cells)
		return err
	})
	return applied, err
}

func (c *Client) mutateRowOnce(ctx context.Context, r *Region, action *hbasepb.RegionAction, cells []byte) (applied bool, err error) {
	in := &hbasepb.MultiRequest{RegionAction: []*hbasepb.RegionAction{action}}
	answer, err := c.servers.RoundTrip(ctx, rpc.ClientService.At(r.Server), "Multi", func(dst []byte, k wire.Call) ([]byte, error) {
		return wire.AppendRequest(dst, k, in, cells)
	})
	if err != nil {
		return false, err
	}
	var out hbasepb.MultiResponse
	if err := proto.Unmarshal(answer.Param, &out); err != nil {
		return false, remote.Invalid(r.Server, err)
	}
	if len(out.RegionActionResult) != 1 {
		return false, remote.Invalid(r.Server, remote.ErrMissing)
	}
	result := out.RegionActionResult[0]
	if e := result.Exception; e != nil {
		return false, remote.ExceptionOf(r.Server, e)
	}
	if result.Processed == nil {
		return false, remote.Invalid(r.Server, remote.ErrMissing)
	}
	return result.GetProcessed(), nil
}

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

// Condition is what CheckAndMutate asks of a row: how one column's newest value compares, or whether a filter takes anything
// of the row. Make one by IfEquals, IfAbsent, IfValue or IfFilter.
type Condition struct {
	Family, Qualifier []byte
	Op                CompareOp
	Value             []byte
	Filter            Filter // instead of all above
	From, To          int64  // only cells of the time range [From, To); both 0 means all
}

// IfEquals asks for a column's value.
func IfEquals(family, qualifier, value []byte) Condition {
	return IfValue(family, qualifier, Equal, value)
}

// IfAbsent asks that a column has no value, or an empty one: HBase does not distinguish these.
func IfAbsent(family, qualifier []byte) Condition {
	return IfValue(family, qualifier, Equal, nil)
}

// IfValue asks how a column's value compares, as bytes: stored Less value, and so on. A column without a value meets no
// comparison but that with an empty value. For other ways to compare there is IfFilter.
func IfValue(family, qualifier []byte, op CompareOp, value []byte) Condition {
	return Condition{Family: family, Qualifier: qualifier, Op: op, Value: value}
}

// IfFilter asks that a filter takes at least one cell of the row.
func IfFilter(f Filter) Condition { return Condition{Filter: f} }

func (q *Condition) message(row []byte) (*hbasepb.Condition, error) {
	m := &hbasepb.Condition{Row: row, TimeRange: timeRange(q.From, q.To)}
	var err error
	if q.Filter != nil {
		m.Filter, err = q.Filter.message()
		return m, err
	}
	m.Family, m.Qualifier, m.CompareType = q.Family, q.Qualifier, q.Op.mirrored()
	m.Comparator, err = Bytes(q.Value).comparator() // servers take any other for this one
	return m, err
}

// MutateRow applies the mutations of a batch, which must all be of one row, as one: a reader sees all of them or none, and a
// crash leaves all or none. They may be puts and deletes. Cells of equal coordinates follow HBase's rule, not their order: a
// delete hides a put of its version.
//
// It does not wait for what is in the lanes: only versions order it among mutations that were submitted and not yet answered.
// Like every mutation with timestamps it means the same thing applied twice, so it is sent again after any failure that may
// pass. The error Is ErrUnknownOutcome when it ended in one that may have been applied.
func (c *Client) MutateRow(ctx context.Context, b *Batch) error {
	_, err := c.mutateRow(ctx, "mutate row", b, nil, func(_, _ *Region) bool { return true })
	return err
}

// CheckAndMutate applies the mutations of a batch, as MutateRow does, if their row meets the condition, and reports whether it did.
// Nothing comes between the check and the mutations.
//
// It is sent again only when it is certain that it was not applied: a second try would find the row as the first one left it.
// Otherwise the error Is ErrUnknownOutcome, and reading the row shows it.
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

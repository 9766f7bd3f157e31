package hbase

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/locate"
	"brine/hbase/internal/remote"
	"brine/hbase/internal/rpc"

	"google.golang.org/protobuf/proto"
)

// Amount is an amount to add to a counter, which is a column of 8 bytes, big-endian. A counter without a value is 0.
type Amount struct {
	Family, Qualifier []byte
	By                int64
}

// Suffix is what to append to the value of a column. The column may have no value yet.
type Suffix struct{ Family, Qualifier, Value []byte }

// Increment adds to counters of one row atomically and returns their new values. The server sets the timestamps.
//
// The server remembers for half an hour which increments it applied (by a nonce). So an increment whose answer was lost can be sent again
// without being applied twice, but only to the same server: a server that received the region by a move does not know the nonce. In that
// case the error wraps ErrUnknownOutcome.
func (c *Client) Increment(ctx context.Context, table string, row []byte, amounts ...Amount) (Result, error) {
	m := newDelta(row, hbasepb.MutationProto_INCREMENT)
	for _, a := range amounts {
		m.add(a.Family, a.Qualifier, binary.BigEndian.AppendUint64(nil, uint64(a.By)))
	}
	return c.delta(ctx, "increment", table, m)
}

// Append appends bytes to the values of columns of one row atomically and returns the new values. What Increment says about lost answers
// also holds here.
func (c *Client) Append(ctx context.Context, table string, row []byte, suffixes ...Suffix) (Result, error) {
	m := newDelta(row, hbasepb.MutationProto_APPEND)
	for _, s := range suffixes {
		m.add(s.Family, s.Qualifier, s.Value)
	}
	return c.delta(ctx, "append", table, m)
}

type delta struct{ *hbasepb.MutationProto }

func newDelta(row []byte, kind hbasepb.MutationProto_MutationType) delta {
	nonce := rand.Uint64() | 1 // 0 means no nonce
	return delta{&hbasepb.MutationProto{Row: row, MutateType: &kind, Nonce: &nonce}}
}

func (d delta) add(family, qualifier, value []byte) {
	column := &hbasepb.MutationProto_ColumnValue_QualifierValue{Qualifier: qualifier, Value: value}
	for _, f := range d.ColumnValue {
		if string(f.Family) == string(family) {
			f.QualifierValue = append(f.QualifierValue, column)
			return
		}
	}
	d.ColumnValue = append(d.ColumnValue, &hbasepb.MutationProto_ColumnValue{
		Family: family, QualifierValue: []*hbasepb.MutationProto_ColumnValue_QualifierValue{column},
	})
}

func (c *Client) delta(ctx context.Context, op, table string, d delta) (row Result, err error) {
	if len(d.ColumnValue) == 0 {
		return row, &Error{Op: op, Table: table, Attempts: 1, Err: errors.New("no columns")}
	}
	group := proto.Uint64(c.nonceGroup)
	err = c.change(ctx, op, table, d.Row, onSameServer, func(ctx context.Context, r *Region) error {
		in := &hbasepb.MutateRequest{Region: locate.Specifier(r), Mutation: d.MutationProto, NonceGroup: group}
		var out hbasepb.MutateResponse
		cells, err := c.servers.Call(ctx, rpc.ClientService.At(r.Server), "Mutate", in, &out)
		if err != nil {
			return err
		}
		if row, _, err = rpc.DecodeResult(out.GetResult(), cells); err != nil {
			return remote.Invalid(r.Server, err)
		}
		row.Row = d.Row
		return nil
	})
	return row, err
}

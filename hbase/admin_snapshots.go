package hbase

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/locate"
	"brine/internal/backoff"

	"google.golang.org/protobuf/proto"
)

// SnapshotKind is how a snapshot treats what servers have in memory only.
type SnapshotKind string

// The kinds. A snapshot of a disabled table is a DisabledSnapshot, whatever was asked for.
const (
	FlushSnapshot    SnapshotKind = "FLUSH"     // writes it to files first: what was acknowledged before is in the snapshot
	SkipFlush        SnapshotKind = "SKIPFLUSH" // leaves it out
	DisabledSnapshot SnapshotKind = "DISABLED"
)

// Snapshot is a table as it was at one time.
type Snapshot struct {
	Name    string
	Table   string
	Kind    SnapshotKind // empty, when one is taken: FlushSnapshot
	Created time.Time    // set by the master
	Owner   string       // set by the master, where callers are authenticated
	TTL     time.Duration
}

// TakeSnapshot takes a snapshot of a table and waits until it is whole. Name and Table must be set; Kind and TTL, after which the master
// deletes it, may be.
func (c *Client) TakeSnapshot(ctx context.Context, s Snapshot) error {
	op := "take snapshot " + s.Name + " of"
	group, nonce := nonces()
	kind := hbasepb.SnapshotDescription_Type(hbasepb.SnapshotDescription_Type_value[string(cmp.Or(s.Kind, FlushSnapshot))])
	d := &hbasepb.SnapshotDescription{Name: &s.Name, Table: proto.String(locate.TableKey(s.Table)), Type: &kind}
	if s.TTL > 0 {
		d.Ttl = proto.Int64(int64(s.TTL / time.Second))
	}
	var out hbasepb.SnapshotResponse
	t := c.newTries(op, s.Table)
	in := &hbasepb.SnapshotRequest{Snapshot: d, NonceGroup: group, Nonce: nonce}
	if err := c.askMaster(ctx, t, "Snapshot", in, &out); err != nil {
		return t.maybeBegun(err)
	}
	if out.ProcId != nil {
		return c.await(ctx, op, s.Table, uint64(out.GetProcId()))
	}
	for polls := 0; ; polls++ { // masters of before HBase 2.6
		var done hbasepb.IsSnapshotDoneResponse
		if err := c.master(ctx, op, s.Table, "IsSnapshotDone", &hbasepb.IsSnapshotDoneRequest{Snapshot: d}, &done); err != nil {
			return begun(0, err)
		}
		if done.GetDone() {
			return nil
		}
		if err := backoff.Wait(ctx, min(backoff.HBase(c.opts.Pause, polls), maxPoll)); err != nil {
			return begun(0, &Error{Op: op, Table: s.Table, Attempts: 1, Err: err})
		}
	}
}

// Snapshots lists the snapshots that are whole, in the order of their names.
func (c *Client) Snapshots(ctx context.Context) ([]Snapshot, error) {
	var out hbasepb.GetCompletedSnapshotsResponse
	err := c.master(ctx, "list snapshots", "", "GetCompletedSnapshots", &hbasepb.GetCompletedSnapshotsRequest{}, &out)
	var found []Snapshot
	for _, d := range out.Snapshots {
		found = append(found, Snapshot{
			Name: d.GetName(), Table: locate.TableKey(d.GetTable()), Kind: SnapshotKind(d.GetType().String()), Owner: d.GetOwner(),
			Created: time.UnixMilli(d.GetCreationTime()), TTL: time.Duration(d.GetTtl()) * time.Second,
		})
	}
	slices.SortFunc(found, func(a, b Snapshot) int { return strings.Compare(a.Name, b.Name) })
	return found, err
}

// DeleteSnapshot deletes a snapshot. Tables that were cloned from it stay.
func (c *Client) DeleteSnapshot(ctx context.Context, name string) error {
	in := &hbasepb.DeleteSnapshotRequest{Snapshot: &hbasepb.SnapshotDescription{Name: &name}}
	return c.master(ctx, "delete snapshot", name, "DeleteSnapshot", in, new(hbasepb.DeleteSnapshotResponse))
}

// CloneSnapshot makes a new table of a snapshot, with its families and regions, and waits until it is enabled. The error Is ErrTableExists
// when there is a table of that name.
func (c *Client) CloneSnapshot(ctx context.Context, name, table string) error {
	op := "clone snapshot " + name + " to"
	switch _, err := c.TableState(ctx, table); {
	case err == nil:
		return &Error{Op: op, Table: table, Attempts: 1, Err: ErrTableExists} // else it would be overwritten, were it disabled
	case !isNoTable(err):
		return err
	}
	return c.restore(ctx, op, name, table)
}

// RestoreSnapshot makes the table of a snapshot, which must be disabled, what it was, families and regions included, and waits for it. The
// table stays disabled. What it holds now is lost: take another snapshot of it before.
func (c *Client) RestoreSnapshot(ctx context.Context, name string) error {
	const op = "restore snapshot"
	all, err := c.Snapshots(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(s Snapshot) bool { return s.Name == name })
	if i < 0 {
		return &Error{Op: op, Table: name, Attempts: 1, Err: ErrNoSnapshot}
	}
	table := all[i].Table
	switch state, err := c.TableState(ctx, table); {
	case isNoTable(err): // it is made again
	case err != nil:
		return err
	case state != Disabled:
		return &Error{Op: op + " " + name + " of", Table: table, Attempts: 1, Err: ErrEnabled}
	}
	return c.restore(ctx, op+" "+name+" of", name, table)
}

func (c *Client) restore(ctx context.Context, op, name, table string) error {
	group, nonce := nonces()
	in := &hbasepb.RestoreSnapshotRequest{
		Snapshot:   &hbasepb.SnapshotDescription{Name: &name, Table: proto.String(locate.TableKey(table))},
		NonceGroup: group, Nonce: nonce,
	}
	err := c.procedure(ctx, op, table, "RestoreSnapshot", in, new(hbasepb.RestoreSnapshotResponse))
	c.locator.ForgetTable(locate.TableKey(table))
	return err
}

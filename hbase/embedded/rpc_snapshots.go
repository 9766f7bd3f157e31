package embedded

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// snapshotMethods keep copies of tables: Snapshot, GetCompletedSnapshots, IsSnapshotDone, DeleteSnapshot and RestoreSnapshot, which also
// clones a snapshot to a new table.
//
// What they do not do:
//   - a snapshot is a copy of the cells, made while the catalogue does not change, not a list of files: it costs time and space;
//   - all kinds of snapshot are the same: a snapshot has everything acknowledged before the call, flushed or not;
//   - the regions of a restored table have new names; the old ones are removed from hbase:meta at once;
//   - TTLs of snapshots are stored and listed, but never expire a snapshot; snapshots have no permissions.
var snapshotMethods = map[string]method{
	"MasterService.Snapshot":              on(takeSnapshot),
	"MasterService.GetCompletedSnapshots": on(getCompletedSnapshots),
	"MasterService.IsSnapshotDone":        on(isSnapshotDone),
	"MasterService.DeleteSnapshot":        on(deleteSnapshot),
	"MasterService.RestoreSnapshot":       on(restoreSnapshot),
}

// The records of snapshots. While a copy is made, a pending record names its space; one commit then replaces that with the record of the
// snapshot or table that the copy belongs to. The next start drops what a crash leaves of a copy.
const (
	recordSnapshot = "snapshot/" // + name: snapshotRecord
	recordPending  = "pending/"  // + space
)

// snapshotRecord is a snapshot: its description, and the table at that time.
type snapshotRecord struct {
	Space       store.Space
	Description []byte   // SnapshotDescription
	Schema      []byte   // TableSchema
	Splits      [][]byte // start keys of all regions but the first
}

func (c *cluster) snapshotNamed(name string) (*snapshotRecord, error) {
	raw, err := c.store.Record(recordSnapshot + name)
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, final(classNoSnapshot, "Snapshot '%s' doesn't exist on the filesystem", name)
	}
	rec := new(snapshotRecord)
	if err := json.Unmarshal(raw, rec); err != nil {
		return nil, fmt.Errorf("record of snapshot %s: %w", name, err)
	}
	return rec, nil
}

func (r *snapshotRecord) description() (*hbasepb.SnapshotDescription, error) {
	d := new(hbasepb.SnapshotDescription)
	return d, proto.Unmarshal(r.Description, d)
}

// takeSnapshot answers a client that sent a nonce with the id of a procedure, and any other with the time within which the snapshot will be
// done. The snapshot is already done when the call is answered.
func takeSnapshot(ctx context.Context, k *call, q *hbasepb.SnapshotRequest) (*hbasepb.SnapshotResponse, error) {
	c := k.node.cluster
	id, err := c.changes(ctx, q.GetNonceGroup(), q.GetNonce(), func() error { return c.takeSnapshot(q.Snapshot) })
	if err != nil {
		return nil, err
	}
	response := &hbasepb.SnapshotResponse{ExpectedTimeout: proto.Int64(300_000)}
	if q.GetNonce() != 0 {
		response.ProcId = proto.Int64(int64(*id))
	}
	return response, nil
}

func (c *cluster) takeSnapshot(d *hbasepb.SnapshotDescription) error {
	if wrong := legalTable(tableName{defaultNamespace, d.GetName()}); wrong != "" {
		return final(classIllegalArgument, "%s", wrong)
	}
	switch _, err := c.snapshotNamed(d.GetName()); {
	case err == nil:
		return final(classSnapshotExists, "Snapshot '%s' already stored on the filesystem.", d.GetName())
	case asException(err).Class != classNoSnapshot:
		return err
	}
	t, err := c.settled(tableNamed(d.GetTable()))
	if err != nil || t == c.meta {
		return final(classSnapshotCreation, "Table '%s' doesn't exist, can't take snapshot.", d.GetTable())
	}
	d = proto.Clone(d).(*hbasepb.SnapshotDescription)
	d.Table = proto.String(t.name.String())
	if t.state == hbasepb.TableState_DISABLED {
		d.Type = hbasepb.SnapshotDescription_DISABLED.Enum()
	}
	if d.GetCreationTime() == 0 {
		d.CreationTime = proto.Int64(c.now())
	}
	rec := snapshotRecord{}
	for _, r := range t.regions[1:] {
		rec.Splits = append(rec.Splits, r.info.StartKey)
	}
	if rec.Description, err = proto.Marshal(d); err != nil {
		return err
	}
	if rec.Schema, err = proto.Marshal(t.schema); err != nil {
		return err
	}
	return c.copied(t.space, func(b *store.Batch, space store.Space) error {
		rec.Space = space
		raw, err := json.Marshal(rec)
		if err != nil {
			return err
		}
		if err := b.SetRecord(recordSnapshot+d.GetName(), raw); err != nil {
			return err
		}
		return b.CommitSurely(c.ctx)
	})
}

// tableNamed parses a table name, "namespace:qualifier" or "qualifier".
func tableNamed(s string) tableName {
	if namespace, qualifier, ok := strings.Cut(s, ":"); ok {
		return tableName{namespace, qualifier}
	}
	return tableName{defaultNamespace, s}
}

// copied copies a space to a new one and calls use, which adds the record of the copy to the batch and commits it.
func (c *cluster) copied(from store.Space, use func(b *store.Batch, space store.Space) error) error {
	c.mu.Lock()
	c.lastSpace++
	space := c.lastSpace
	c.mu.Unlock()
	pending := recordPending + strconv.FormatUint(uint64(space), 10)
	b := c.store.NewBatch()
	err := b.SetRecord(pending, []byte{1})
	if err == nil {
		err = b.CommitSurely(c.ctx)
	}
	if err != nil {
		return errors.Join(err, b.Close())
	}
	if err = c.store.Copy(c.ctx, from, space); err == nil {
		b = c.store.NewBatch()
		if err = b.SetRecord(pending, nil); err == nil {
			err = use(b, space)
		}
		if err == nil {
			return nil
		}
		err = errors.Join(err, b.Close())
	}
	return errors.Join(err, c.dropPending(pending, space))
}

func (c *cluster) dropPending(record string, space store.Space) error {
	b := c.store.NewBatch()
	err := errors.Join(b.DropSpace(space), b.SetRecord(record, nil))
	if err == nil {
		err = b.CommitSurely(c.ctx)
	}
	return errors.Join(err, b.Close())
}

// loadSnapshots drops what is left of interrupted copies, and reserves the spaces of the snapshots.
func (c *cluster) loadSnapshots() error {
	left := map[string]store.Space{}
	err := c.store.Records(recordPending, func(name string, _ []byte) error {
		n, err := strconv.ParseUint(strings.TrimPrefix(name, recordPending), 10, 32)
		left[name] = store.Space(n)
		return err
	})
	if err != nil {
		return err
	}
	for name, space := range left {
		c.lastSpace = max(c.lastSpace, space)
		if err := c.dropPending(name, space); err != nil {
			return err
		}
	}
	return c.store.Records(recordSnapshot, func(name string, value []byte) error {
		var rec snapshotRecord
		if err := json.Unmarshal(value, &rec); err != nil {
			return fmt.Errorf("record %s: %w", name, err)
		}
		c.lastSpace = max(c.lastSpace, rec.Space)
		return nil
	})
}

func getCompletedSnapshots(_ context.Context, k *call, _ *hbasepb.GetCompletedSnapshotsRequest) (*hbasepb.GetCompletedSnapshotsResponse,
	error) {
	response := &hbasepb.GetCompletedSnapshotsResponse{}
	err := k.node.cluster.store.Records(recordSnapshot, func(_ string, value []byte) error {
		var rec snapshotRecord
		if err := json.Unmarshal(value, &rec); err != nil {
			return err
		}
		d, err := rec.description()
		response.Snapshots = append(response.Snapshots, d)
		return err
	})
	return response, err
}

func isSnapshotDone(_ context.Context, k *call, q *hbasepb.IsSnapshotDoneRequest) (*hbasepb.IsSnapshotDoneResponse, error) {
	rec, err := k.node.cluster.snapshotNamed(q.GetSnapshot().GetName())
	if err != nil {
		return nil, err
	}
	d, err := rec.description()
	return &hbasepb.IsSnapshotDoneResponse{Done: proto.Bool(true), Snapshot: d}, err
}

func deleteSnapshot(ctx context.Context, k *call, q *hbasepb.DeleteSnapshotRequest) (*hbasepb.DeleteSnapshotResponse, error) {
	c, name := k.node.cluster, q.GetSnapshot().GetName()
	_, err := c.changes(ctx, 0, 0, func() error {
		rec, err := c.snapshotNamed(name)
		if err != nil {
			return err
		}
		b := c.store.NewBatch()
		err = errors.Join(b.DropSpace(rec.Space), b.SetRecord(recordSnapshot+name, nil))
		if err == nil {
			err = b.CommitSurely(c.ctx)
		}
		return errors.Join(err, b.Close())
	})
	return &hbasepb.DeleteSnapshotResponse{}, err
}

func restoreSnapshot(ctx context.Context, k *call, q *hbasepb.RestoreSnapshotRequest) (*hbasepb.RestoreSnapshotResponse, error) {
	c := k.node.cluster
	id, err := c.changes(ctx, q.GetNonceGroup(), q.GetNonce(), func() error {
		return c.restoreSnapshot(q.GetSnapshot().GetName(), tableNamed(q.GetSnapshot().GetTable()))
	})
	return &hbasepb.RestoreSnapshotResponse{ProcId: id}, err
}

// restoreSnapshot restores a table from a snapshot. The table is either new, or exists and is disabled; then it stays disabled.
func (c *cluster) restoreSnapshot(snapshot string, name tableName) error {
	rec, err := c.snapshotNamed(snapshot)
	if err != nil {
		return err
	}
	if wrong := legalTable(name); wrong != "" {
		return final(classIllegalArgument, "%s", wrong)
	}
	if _, err := c.namespace(name.namespace); err != nil {
		return err
	}
	old, err := c.settled(name)
	switch {
	case err != nil && asException(err).Class != classTableNotFound:
		return err
	case err == nil && old.state != hbasepb.TableState_DISABLED:
		return final(classUnsupportedOp, "Table '%s' should be disabled in order to perform a restore operation.", name)
	case err != nil:
		old = nil
	}
	schema := new(hbasepb.TableSchema)
	if err := proto.Unmarshal(rec.Schema, schema); err != nil {
		return err
	}
	schema.TableName = name.message()
	families, err := checkSchema(schema)
	if err != nil {
		return err
	}
	slices.SortFunc(families, func(a, b *store.Family) int { return bytes.Compare(a.Name, b.Name) })
	return c.copied(rec.Space, func(b *store.Batch, space store.Space) error {
		t := &table{name: name, space: space}
		t.setSchema(schema, families)
		if old == nil {
			return c.install(b, t, rec.Splits)
		}
		if err := c.remove(b, old); err != nil {
			return err
		}
		return c.installClosed(b, t, rec.Splits)
	})
}

// installClosed is install for a table that stays disabled.
func (c *cluster) installClosed(b *store.Batch, t *table, splits [][]byte) error {
	t.state = hbasepb.TableState_DISABLED
	id, start := c.regionID(), []byte(nil)
	for _, end := range append(slices.Clone(splits), nil) {
		r := newRegion(t, start, end, id)
		r.state = hbasepb.RegionState_CLOSED
		t.regions = append(t.regions, r)
		if err := c.putRegion(b, r, r.state, nil); err != nil {
			return err
		}
		start = end
	}
	if err := c.putTable(b, t, t.state, t.schema); err != nil {
		return err
	}
	if err := b.CommitSurely(c.ctx); err != nil {
		return err
	}
	c.mu.Lock()
	c.tables[t.name] = t
	c.mu.Unlock()
	return nil
}

package embedded

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// tableMethods create, delete, enable and disable tables: CreateTable, DeleteTable, truncateTable, EnableTable, DisableTable, FlushTable;
// and ExecProcedure with IsProcedureDone, by which clients before HBase 2.6 flush.
//
// What they do not do:
//   - attributes of a table such as MAX_FILESIZE are stored but have no effect;
//   - FlushTable writes all tables to disk, because they share one store, and drops nothing;
//   - ExecProcedure has no other procedures, which would be those of operators;
//   - see snapshotMethods for snapshots, and accessMethods and peerMethods for permissions, quotas and replication, which are only
//     recorded.
var tableMethods = map[string]method{
	"MasterService.CreateTable":   on(createTable),
	"MasterService.DeleteTable":   on(deleteTable),
	"MasterService.truncateTable": on(truncateTable),
	"MasterService.EnableTable":   on(enableTable),
	"MasterService.DisableTable":  on(disableTable),
	"MasterService.FlushTable":    on(flushTable),

	"MasterService.ExecProcedure":   on(execProcedure),
	"MasterService.IsProcedureDone": on(isProcedureDone),
}

func createTable(ctx context.Context, k *call, q *hbasepb.CreateTableRequest) (*hbasepb.CreateTableResponse, error) {
	c := k.node.cluster
	id, err := c.changes(ctx, q.GetNonceGroup(), q.GetNonce(), func() error { return c.createTable(q.TableSchema, q.SplitKeys) })
	return &hbasepb.CreateTableResponse{ProcId: id}, err
}

func (c *cluster) createTable(s *hbasepb.TableSchema, splits [][]byte) error {
	name := nameOf(s.GetTableName())
	if wrong := legalTable(name); wrong != "" {
		return final(classIllegalArgument, "%s", wrong)
	}
	if _, err := c.namespace(name.namespace); err != nil {
		return err
	}
	if _, err := c.find(name); err == nil {
		return final(classTableExists, "%s", name)
	}
	families, err := checkSchema(s)
	if err != nil {
		return err
	}
	splits, err = sortSplits(splits)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.lastSpace++
	t := &table{name: name, space: c.lastSpace}
	c.mu.Unlock()
	slices.SortFunc(families, func(a, b *store.Family) int { return bytes.Compare(a.Name, b.Name) })
	t.setSchema(withDefaults(s), families)
	return c.install(c.store.NewBatch(), t, splits)
}

func sortSplits(splits [][]byte) ([][]byte, error) {
	splits = slices.Clone(splits)
	slices.SortFunc(splits, bytes.Compare)
	for i, s := range splits {
		if len(s) == 0 {
			return nil, final(classIllegalArgument, "Empty split key must not be passed in the split keys.")
		}
		if i > 0 && bytes.Equal(s, splits[i-1]) {
			return nil, final(classIllegalArgument, "All split keys must be unique, found duplicate: %q", s)
		}
	}
	return splits, nil
}

// install creates the regions of a table and commits them together with what the batch already holds. Only then is the table visible.
func (c *cluster) install(b *store.Batch, t *table, splits [][]byte) error {
	t.state = hbasepb.TableState_ENABLED
	t.regions = nil
	id := c.regionID()
	start := []byte(nil)
	var open []placement
	for _, end := range append(slices.Clone(splits), nil) {
		r := newRegion(t, start, end, id)
		t.regions, open = append(t.regions, r), append(open, c.place(r))
		if err := c.putRegion(b, r, hbasepb.RegionState_OPENING, nil); err != nil {
			return err
		}
		start = end
	}
	if err := c.putTable(b, t, t.state, t.schema); err != nil {
		return err
	}
	if err := c.openIn(b, open); err != nil {
		return err
	}
	c.mu.Lock()
	c.tables[t.name] = t
	c.mu.Unlock()
	return nil
}

// disabled returns a table, or an exception if it is not disabled.
func (c *cluster) disabled(name tableName) (*table, error) {
	t, err := c.settled(name)
	if err != nil {
		return nil, err
	}
	if t.state != hbasepb.TableState_DISABLED {
		return nil, final(classTableNotDisabled, "%s is not disabled", name)
	}
	return t, nil
}

func deleteTable(ctx context.Context, k *call, q *hbasepb.DeleteTableRequest) (*hbasepb.DeleteTableResponse, error) {
	c := k.node.cluster
	id, err := c.changes(ctx, q.GetNonceGroup(), q.GetNonce(), func() error {
		t, err := c.disabled(nameOf(q.TableName))
		if err != nil {
			return err
		}
		b := c.store.NewBatch()
		if err := errors.Join(c.remove(b, t), c.forgetPermissions(b, t.name)); err != nil {
			return errors.Join(err, b.Close())
		}
		if err := b.CommitSurely(c.ctx); err != nil {
			return err
		}
		c.mu.Lock()
		delete(c.tables, t.name)
		c.mu.Unlock()
		return nil
	})
	return &hbasepb.DeleteTableResponse{ProcId: id}, err
}

// remove adds the removal of a table to a batch: of its cells, its regions' rows, its own row and its record.
func (c *cluster) remove(b *store.Batch, t *table) error {
	if err := b.DropSpace(t.space); err != nil {
		return err
	}
	for _, r := range slices.Concat(t.regions, t.parents) {
		if err := b.DropRow(store.MetaSpace, r.name); err != nil {
			return err
		}
	}
	if err := b.DropRow(store.MetaSpace, []byte(t.name.String())); err != nil {
		return err
	}
	return b.SetRecord(recordTable+t.name.String(), nil)
}

func truncateTable(ctx context.Context, k *call, q *hbasepb.TruncateTableRequest) (*hbasepb.TruncateTableResponse, error) {
	c := k.node.cluster
	id, err := c.changes(ctx, q.GetNonceGroup(), q.GetNonce(), func() error {
		t, err := c.disabled(nameOf(q.TableName))
		if err != nil {
			return err
		}
		var splits [][]byte
		if q.GetPreserveSplits() {
			for _, r := range t.regions[1:] {
				splits = append(splits, r.info.StartKey)
			}
		}
		b := c.store.NewBatch()
		if err := c.remove(b, t); err != nil {
			return err
		}
		c.mu.Lock()
		c.lastSpace++
		fresh := &table{name: t.name, space: c.lastSpace}
		c.mu.Unlock()
		fresh.setSchema(t.schema, *t.families.Load())
		return c.install(b, fresh, splits)
	})
	return &hbasepb.TruncateTableResponse{ProcId: id}, err
}

func disableTable(ctx context.Context, k *call, q *hbasepb.DisableTableRequest) (*hbasepb.DisableTableResponse, error) {
	c := k.node.cluster
	id, err := c.changes(ctx, q.GetNonceGroup(), q.GetNonce(), func() error {
		t, err := c.settled(nameOf(q.TableName))
		switch {
		case err != nil:
			return err
		case t == c.meta:
			return final(classConstraint, "Cannot disable catalog table")
		case t.state != hbasepb.TableState_ENABLED:
			return final(classTableNotEnabled, "%s", t.name)
		}
		return c.setState(t, hbasepb.TableState_DISABLED)
	})
	return &hbasepb.DisableTableResponse{ProcId: id}, err
}

func enableTable(ctx context.Context, k *call, q *hbasepb.EnableTableRequest) (*hbasepb.EnableTableResponse, error) {
	c := k.node.cluster
	id, err := c.changes(ctx, q.GetNonceGroup(), q.GetNonce(), func() error {
		t, err := c.disabled(nameOf(q.TableName))
		if err != nil {
			return err
		}
		return c.setState(t, hbasepb.TableState_ENABLED)
	})
	return &hbasepb.EnableTableResponse{ProcId: id}, err
}

// setState enables or disables a table, which opens or closes its regions.
func (c *cluster) setState(t *table, state hbasepb.TableState_State) error {
	change := transition{
		Transition: Transition{Kind: "disable", Table: t.name.String()},
		close:      t.regions,
		record:     func(b *store.Batch) error { return c.putTable(b, t, state, t.schema) },
		decide:     func() { t.state = state },
	}
	for _, r := range t.regions {
		p := placement{r: r}
		if state == hbasepb.TableState_ENABLED {
			change.Kind, p = "enable", c.place(r)
		}
		r.unassigned = false
		change.open, change.Regions = append(change.open, p), append(change.Regions, r.encoded)
	}
	return c.transfer(change)
}

func flushTable(ctx context.Context, k *call, q *hbasepb.FlushTableRequest) (*hbasepb.FlushTableResponse, error) {
	c := k.node.cluster
	id, err := c.changes(ctx, q.GetNonceGroup(), q.GetNonce(), func() error { return c.flush(nameOf(q.TableName)) })
	return &hbasepb.FlushTableResponse{ProcId: id}, err
}

func (c *cluster) flush(t tableName) error {
	if _, err := c.find(t); err != nil {
		return err
	}
	return c.store.Flush()
}

// execProcedure answers once the table is flushed, so that IsProcedureDone need not know of it.
func execProcedure(ctx context.Context, k *call, q *hbasepb.ExecProcedureRequest) (*hbasepb.ExecProcedureResponse, error) {
	if q.Procedure.GetSignature() != "flush-table-proc" {
		return nil, final(classDoNotRetry, "The procedure is not registered: %s", q.Procedure.GetSignature())
	}
	c := k.node.cluster
	_, err := c.changes(ctx, 0, 0, func() error { return c.flush(parseTableName(q.Procedure.GetInstance())) })
	return &hbasepb.ExecProcedureResponse{ExpectedTimeout: proto.Int64(time.Minute.Milliseconds())}, err
}

func isProcedureDone(_ context.Context, _ *call, q *hbasepb.IsProcedureDoneRequest) (*hbasepb.IsProcedureDoneResponse, error) {
	return &hbasepb.IsProcedureDoneResponse{Done: proto.Bool(true), Snapshot: q.Procedure}, nil
}

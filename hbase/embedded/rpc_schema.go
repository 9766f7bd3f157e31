package embedded

import (
	"bytes"
	"context"
	"slices"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// schemaMethods alter tables: ModifyTable, AddColumn, ModifyColumn, DeleteColumn, and GetSchemaAlterStatus, which returns the progress.
//
// What they do not do:
//   - regions are not closed, so scanners stay open, and GetSchemaAlterStatus always reports that all regions are up to date;
//   - hbase:meta cannot be altered;
//   - only the settings of a family that familyOf reads have an effect; KEEP_DELETED_CELLS TTL and NEW_VERSION_BEHAVIOR are refused, the
//     others are stored and ignored;
//   - changes of store file trackers are not served.
var schemaMethods = map[string]method{
	"MasterService.ModifyTable":          on(modifyTable),
	"MasterService.AddColumn":            on(addColumn),
	"MasterService.ModifyColumn":         on(modifyColumn),
	"MasterService.DeleteColumn":         on(deleteColumn),
	"MasterService.GetSchemaAlterStatus": on(getSchemaAlterStatus),
}

// alter replaces a table's description. It does not reopen regions, because every call looks up the families. It removes the cells of a
// removed family before the call is answered: they must not reappear when a family with that name is added.
func (c *cluster) alter(name tableName, change func(*hbasepb.TableSchema) (*hbasepb.TableSchema, error)) error {
	t, err := c.find(name)
	if err != nil {
		return err
	}
	if t == c.meta {
		return unsupported("a change of hbase:meta")
	}
	schema, err := change(proto.Clone(t.schema).(*hbasepb.TableSchema))
	if err != nil {
		return err
	}
	if nameOf(schema.GetTableName()) != name {
		return final(classIllegalArgument, "table %s cannot be renamed to %s", name, nameOf(schema.GetTableName()))
	}
	schema = withDefaults(schema)
	families, err := checkSchema(schema)
	if err != nil {
		return err
	}
	b := c.store.NewBatch()
	if err := c.putTable(b, t, t.state, schema); err != nil {
		return err
	}
	if err := b.CommitSurely(c.ctx); err != nil {
		return err
	}
	old := *t.families.Load()
	c.mu.Lock()
	t.setSchema(schema, families)
	c.mu.Unlock()
	if err := c.whenAvailable(func() error { return c.replicateAll(t) }); err != nil {
		return err
	}
	for _, f := range old {
		if families.Find(f.Name) == nil {
			if err := c.dropFamily(t, f.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// dropFamily waits for the writers that may still use the family and removes its cells.
func (c *cluster) dropFamily(t *table, family []byte) error {
	for _, r := range t.regions {
		r.mu.Lock()
		r.mu.Unlock() //nolint:staticcheck // taking the lock is the wait
	}
	return c.whenAvailable(func() error { return c.store.DropFamily(t.space, family) })
}

func modifyTable(ctx context.Context, k *call, q *hbasepb.ModifyTableRequest) (*hbasepb.ModifyTableResponse, error) {
	c := k.node.cluster
	id, err := c.changes(ctx, q.GetNonceGroup(), q.GetNonce(), func() error {
		return c.alter(nameOf(q.TableName), func(*hbasepb.TableSchema) (*hbasepb.TableSchema, error) { return q.TableSchema, nil })
	})
	return &hbasepb.ModifyTableResponse{ProcId: id}, err
}

func familyAt(s *hbasepb.TableSchema, name []byte) int {
	return slices.IndexFunc(s.ColumnFamilies, func(f *hbasepb.ColumnFamilySchema) bool { return bytes.Equal(f.Name, name) })
}

func addColumn(ctx context.Context, k *call, q *hbasepb.AddColumnRequest) (*hbasepb.AddColumnResponse, error) {
	c := k.node.cluster
	id, err := c.changes(ctx, q.GetNonceGroup(), q.GetNonce(), func() error {
		return c.alter(nameOf(q.TableName), func(s *hbasepb.TableSchema) (*hbasepb.TableSchema, error) {
			if familyAt(s, q.ColumnFamilies.Name) >= 0 {
				return nil, final(classInvalidFamily, "Column family '%s' in table '%s' already exists so cannot be added",
					q.ColumnFamilies.Name, nameOf(q.TableName))
			}
			s.ColumnFamilies = append(s.ColumnFamilies, q.ColumnFamilies)
			return s, nil
		})
	})
	return &hbasepb.AddColumnResponse{ProcId: id}, err
}

func modifyColumn(ctx context.Context, k *call, q *hbasepb.ModifyColumnRequest) (*hbasepb.ModifyColumnResponse, error) {
	c := k.node.cluster
	id, err := c.changes(ctx, q.GetNonceGroup(), q.GetNonce(), func() error {
		return c.alter(nameOf(q.TableName), func(s *hbasepb.TableSchema) (*hbasepb.TableSchema, error) {
			i := familyAt(s, q.ColumnFamilies.Name)
			if i < 0 {
				return nil, final(classInvalidFamily, "Column family '%s' does not exist so it cannot be modified", q.ColumnFamilies.Name)
			}
			s.ColumnFamilies[i] = q.ColumnFamilies
			return s, nil
		})
	})
	return &hbasepb.ModifyColumnResponse{ProcId: id}, err
}

func deleteColumn(ctx context.Context, k *call, q *hbasepb.DeleteColumnRequest) (*hbasepb.DeleteColumnResponse, error) {
	c := k.node.cluster
	id, err := c.changes(ctx, q.GetNonceGroup(), q.GetNonce(), func() error {
		return c.alter(nameOf(q.TableName), func(s *hbasepb.TableSchema) (*hbasepb.TableSchema, error) {
			i := familyAt(s, q.ColumnName)
			if i < 0 {
				return nil, final(classInvalidFamily, "Column family '%s' does not exist so it cannot be deleted", q.ColumnName)
			}
			s.ColumnFamilies = slices.Delete(s.ColumnFamilies, i, i+1)
			return s, nil
		})
	})
	return &hbasepb.DeleteColumnResponse{ProcId: id}, err
}

// getSchemaAlterStatus reports that all regions have the change. Java clients call it after each one.
func getSchemaAlterStatus(_ context.Context, k *call,
	q *hbasepb.GetSchemaAlterStatusRequest) (*hbasepb.GetSchemaAlterStatusResponse, error) {
	c := k.node.cluster
	t, err := c.find(nameOf(q.TableName))
	if err != nil {
		return nil, err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	return &hbasepb.GetSchemaAlterStatusResponse{YetToUpdateRegions: proto.Uint32(0), TotalRegions: proto.Uint32(uint32(len(t.regions)))}, nil
}

package hbase

import (
	"bytes"
	"context"
	"slices"
	"sort"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/locate"
)

// CreateTable creates a table that is split at the given keys and waits until its regions are open.
func (c *Client) CreateTable(ctx context.Context, t Table, splits [][]byte) error {
	splits = slices.Clone(splits)
	slices.SortFunc(splits, bytes.Compare)
	group, nonce := nonces()
	in := &hbasepb.CreateTableRequest{TableSchema: t.schema(), SplitKeys: splits, NonceGroup: group, Nonce: nonce}
	var out hbasepb.CreateTableResponse
	return c.procedure(ctx, "create table", t.Name, "CreateTable", in, &out)
}

// Describe returns the description of a table. The error wraps ErrNoTable if the table does not exist.
func (c *Client) Describe(ctx context.Context, table string) (Table, error) {
	in := &hbasepb.GetTableDescriptorsRequest{TableNames: []*hbasepb.TableName{locate.TableName(table)}}
	var out hbasepb.GetTableDescriptorsResponse
	if err := c.master(ctx, "describe", table, "GetTableDescriptors", in, &out); err != nil {
		return Table{}, err
	}
	if len(out.TableSchema) == 0 {
		return Table{}, &Error{Op: "describe", Table: table, Attempts: 1, Err: ErrNoTable}
	}
	return tableOf(out.TableSchema[0]), nil
}

// Tables lists the tables of all namespaces except hbase.
func (c *Client) Tables(ctx context.Context) ([]Table, error) {
	var out hbasepb.GetTableDescriptorsResponse
	if err := c.master(ctx, "list tables", "", "GetTableDescriptors", &hbasepb.GetTableDescriptorsRequest{}, &out); err != nil {
		return nil, err
	}
	var tables []Table
	for _, s := range out.TableSchema {
		if string(s.GetTableName().GetNamespace()) != locate.SystemNamespace {
			tables = append(tables, tableOf(s))
		}
	}
	sort.Slice(tables, func(i, j int) bool { return tables[i].Name < tables[j].Name })
	return tables, nil
}

// DisableTable disables a table and waits until it is disabled.
func (c *Client) DisableTable(ctx context.Context, table string) error {
	group, nonce := nonces()
	in := &hbasepb.DisableTableRequest{TableName: locate.TableName(table), NonceGroup: group, Nonce: nonce}
	var out hbasepb.DisableTableResponse
	return c.procedure(ctx, "disable table", table, "DisableTable", in, &out)
}

// EnableTable enables a table and waits until it is enabled.
func (c *Client) EnableTable(ctx context.Context, table string) error {
	group, nonce := nonces()
	in := &hbasepb.EnableTableRequest{TableName: locate.TableName(table), NonceGroup: group, Nonce: nonce}
	var out hbasepb.EnableTableResponse
	return c.procedure(ctx, "enable table", table, "EnableTable", in, &out)
}

// DeleteTable deletes a disabled table and waits until it is gone.
func (c *Client) DeleteTable(ctx context.Context, table string) error {
	group, nonce := nonces()
	in := &hbasepb.DeleteTableRequest{TableName: locate.TableName(table), NonceGroup: group, Nonce: nonce}
	var out hbasepb.DeleteTableResponse
	err := c.procedure(ctx, "delete table", table, "DeleteTable", in, &out)
	c.locator.ForgetTable(locate.TableKey(table))
	return err
}

// AlterTable changes a table to this description. Families that the description does not name are deleted with their data. AlterTable waits
// until all regions have the change; they reopen one after the other while the table stays in use. Start from the result of Describe.
func (c *Client) AlterTable(ctx context.Context, t Table) error {
	group, nonce := nonces()
	in := &hbasepb.ModifyTableRequest{TableName: locate.TableName(t.Name), TableSchema: t.schema(), NonceGroup: group, Nonce: nonce}
	return c.procedure(ctx, "alter table", t.Name, "ModifyTable", in, new(hbasepb.ModifyTableResponse))
}

// AddFamily adds a family to a table and waits until all regions have it.
func (c *Client) AddFamily(ctx context.Context, table string, f Family) error {
	group, nonce := nonces()
	in := &hbasepb.AddColumnRequest{TableName: locate.TableName(table), ColumnFamilies: f.schema(), NonceGroup: group, Nonce: nonce}
	return c.procedure(ctx, "add family "+f.Name+" to", table, "AddColumn", in, new(hbasepb.AddColumnResponse))
}

// AlterFamily changes a family to this description and waits until all regions have it.
func (c *Client) AlterFamily(ctx context.Context, table string, f Family) error {
	group, nonce := nonces()
	in := &hbasepb.ModifyColumnRequest{TableName: locate.TableName(table), ColumnFamilies: f.schema(), NonceGroup: group, Nonce: nonce}
	return c.procedure(ctx, "alter family "+f.Name+" of", table, "ModifyColumn", in, new(hbasepb.ModifyColumnResponse))
}

// DeleteFamily deletes a family and its data.
func (c *Client) DeleteFamily(ctx context.Context, table, family string) error {
	group, nonce := nonces()
	in := &hbasepb.DeleteColumnRequest{TableName: locate.TableName(table), ColumnName: []byte(family), NonceGroup: group, Nonce: nonce}
	return c.procedure(ctx, "delete family "+family+" of", table, "DeleteColumn", in, new(hbasepb.DeleteColumnResponse))
}

// TruncateTable deletes all rows of a disabled table and enables it. The table has one region afterwards unless preserveSplits is true.
func (c *Client) TruncateTable(ctx context.Context, table string, preserveSplits bool) error {
	group, nonce := nonces()
	in := &hbasepb.TruncateTableRequest{TableName: locate.TableName(table), PreserveSplits: &preserveSplits, NonceGroup: group, Nonce: nonce}
	err := c.procedure(ctx, "truncate table", table, "truncateTable", in, new(hbasepb.TruncateTableResponse))
	c.locator.ForgetTable(locate.TableKey(table))
	return err
}

// TableState says whether a table serves requests.
type TableState string

// The table states.
const (
	Enabled   TableState = "ENABLED"
	Disabled  TableState = "DISABLED"
	Enabling  TableState = "ENABLING"
	Disabling TableState = "DISABLING"
)

// TableState returns the state of a table.
func (c *Client) TableState(ctx context.Context, table string) (TableState, error) {
	var out hbasepb.GetTableStateResponse
	in := &hbasepb.GetTableStateRequest{TableName: locate.TableName(table)}
	if err := c.master(ctx, "state of table", table, "GetTableState", in, &out); err != nil {
		return "", err
	}
	return TableState(out.GetTableState().GetState().String()), nil
}

// TableAvailable reports whether a table is enabled and all its regions are open.
func (c *Client) TableAvailable(ctx context.Context, table string) (bool, error) {
	state, err := c.TableState(ctx, table)
	if err != nil || state != Enabled {
		return false, err
	}
	regions, err := c.Regions(ctx, table)
	return err == nil && !slices.ContainsFunc(regions, func(r Region) bool { return !isOpen(&r) }), err
}

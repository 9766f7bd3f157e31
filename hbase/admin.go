package hbase

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sort"
	"time"

	"brine/hbase/hbasepb"
	"brine/internal/backoff"

	"google.golang.org/protobuf/proto"
)

// Table describes a table.
type Table struct {
	Name     string // "namespace:name", or "name" in the default namespace
	Families []Family
	Values   map[string]string // table attributes by HBase's own names (MAX_FILESIZE, DURABILITY …)
}

// Family describes a column family by HBase's own attribute names and values (TTL in seconds, VERSIONS, MIN_VERSIONS,
// COMPRESSION, BLOOMFILTER, BLOCKSIZE, BLOCKCACHE, DATA_BLOCK_ENCODING …).
type Family struct {
	Name   string
	Values map[string]string
}

// CreateNamespace makes a namespace; it is no error when it exists.
func (c *Client) CreateNamespace(ctx context.Context, name string) error {
	group, nonce := nonces()
	in := &hbasepb.CreateNamespaceRequest{
		NamespaceDescriptor: &hbasepb.NamespaceDescriptor{Name: []byte(name)}, NonceGroup: group, Nonce: nonce,
	}
	var out hbasepb.CreateNamespaceResponse
	err := c.procedure(ctx, "create namespace", name, "CreateNamespace", in, &out)
	if errors.Is(err, errNamespaceExists) {
		return nil
	}
	return err
}

// CreateTable makes a table split at the given points and waits until its regions are open.
func (c *Client) CreateTable(ctx context.Context, t Table, splits [][]byte) error {
	splits = slices.Clone(splits)
	slices.SortFunc(splits, bytes.Compare)
	group, nonce := nonces()
	in := &hbasepb.CreateTableRequest{TableSchema: t.schema(), SplitKeys: splits, NonceGroup: group, Nonce: nonce}
	var out hbasepb.CreateTableResponse
	return c.procedure(ctx, "create table", t.Name, "CreateTable", in, &out)
}

// Describe gives a table's description; the error Is ErrNoTable when there is none.
func (c *Client) Describe(ctx context.Context, table string) (Table, error) {
	in := &hbasepb.GetTableDescriptorsRequest{TableNames: []*hbasepb.TableName{tableName(table)}}
	var out hbasepb.GetTableDescriptorsResponse
	if err := c.master(ctx, "describe", table, "GetTableDescriptors", in, &out); err != nil {
		return Table{}, err
	}
	if len(out.TableSchema) == 0 {
		return Table{}, &Error{Op: "describe", Table: table, Attempts: 1, Err: ErrNoTable}
	}
	return tableOf(out.TableSchema[0]), nil
}

// Tables lists the tables of all namespaces but hbase's own.
func (c *Client) Tables(ctx context.Context) ([]Table, error) {
	var out hbasepb.GetTableDescriptorsResponse
	if err := c.master(ctx, "list tables", "", "GetTableDescriptors", &hbasepb.GetTableDescriptorsRequest{}, &out); err != nil {
		return nil, err
	}
	var tables []Table
	for _, s := range out.TableSchema {
		if string(s.GetTableName().GetNamespace()) != systemNamespace {
			tables = append(tables, tableOf(s))
		}
	}
	sort.Slice(tables, func(i, j int) bool { return tables[i].Name < tables[j].Name })
	return tables, nil
}

// DisableTable disables a table and waits for it.
func (c *Client) DisableTable(ctx context.Context, table string) error {
	group, nonce := nonces()
	in := &hbasepb.DisableTableRequest{TableName: tableName(table), NonceGroup: group, Nonce: nonce}
	var out hbasepb.DisableTableResponse
	return c.procedure(ctx, "disable table", table, "DisableTable", in, &out)
}

// EnableTable enables a table and waits for it.
func (c *Client) EnableTable(ctx context.Context, table string) error {
	group, nonce := nonces()
	in := &hbasepb.EnableTableRequest{TableName: tableName(table), NonceGroup: group, Nonce: nonce}
	var out hbasepb.EnableTableResponse
	return c.procedure(ctx, "enable table", table, "EnableTable", in, &out)
}

// DeleteTable deletes a disabled table and waits for it.
func (c *Client) DeleteTable(ctx context.Context, table string) error {
	group, nonce := nonces()
	in := &hbasepb.DeleteTableRequest{TableName: tableName(table), NonceGroup: group, Nonce: nonce}
	var out hbasepb.DeleteTableResponse
	err := c.procedure(ctx, "delete table", table, "DeleteTable", in, &out)
	c.locator.cache.dropTable(tableKey(table))
	return err
}

// Regions lists a table's regions in key order, read from hbase:meta; parents of splits, which are nowhere, are left out.
func (c *Client) Regions(ctx context.Context, table string) ([]Region, error) {
	table = tableKey(table)
	s := Scan{
		Start: metaKey(table, nil, ""), Stop: metaKey(table+" ", nil, ""), // in hbase:meta's order, behind all regions
		Columns: []Column{{Family: []byte("info")}},
	}
	var regions []Region
	for row, err := range c.Scan(ctx, metaTable, s) {
		if err != nil {
			return nil, &Error{Op: "list regions", Table: table, Attempts: 1, Err: err}
		}
		r, err := regionOfMetaRow(row)
		if errors.Is(err, errNoRegionInfo) {
			continue
		}
		if err != nil {
			return nil, &Error{Op: "list regions", Table: table, Attempts: 1, Err: err}
		}
		if r.Table == table && !r.Split {
			regions = append(regions, *r)
		}
	}
	if len(regions) == 0 {
		return nil, &Error{Op: "list regions", Table: table, Attempts: 1, Err: ErrNoTable}
	}
	return regions, nil
}

// nonces name an admin call, so that the master does it once however often it is sent.
func nonces() (group, nonce *uint64) { return proto.Uint64(rand.Uint64()), proto.Uint64(rand.Uint64()) }

// master calls the active master, finding it anew when it has moved.
func (c *Client) master(ctx context.Context, op, table, method string, in, out proto.Message) error {
	t := c.newTries(op, table)
	t.admin = true
	return t.run(ctx, func(ctx context.Context) (*Region, error) {
		addr := c.masterAddr.Load()
		if addr == nil {
			found, err := c.registry.activeMaster(ctx)
			if err != nil {
				return nil, err
			}
			addr = &found
			c.masterAddr.Store(addr)
		}
		_, err := c.servers.call(ctx, endpoint{*addr, masterService}, method, in, out)
		if d := diagnose(err); err != nil && d.remedy != giveUp {
			c.masterAddr.CompareAndSwap(addr, nil)
		}
		return nil, err
	})
}

// starter is the answer to a call that begins a procedure of the master's.
type starter interface {
	proto.Message
	GetProcId() uint64
}

// maxPoll is the longest pause between two questions after a procedure.
const maxPoll = time.Second

// procedure begins a procedure and waits for its end. An exception that it ended with is the error.
func (c *Client) procedure(ctx context.Context, op, table, method string, in proto.Message, out starter) error {
	if err := c.master(ctx, op, table, method, in, out); err != nil {
		return err
	}
	id := out.GetProcId()
	for polls := 0; ; polls++ {
		var result hbasepb.GetProcedureResultResponse
		if err := c.master(ctx, op, table, "getProcedureResult", &hbasepb.GetProcedureResultRequest{ProcId: &id}, &result); err != nil {
			return err
		}
		if e := result.GetException().GetGenericException(); e != nil {
			err := &remoteError{server: "the master's procedure", class: e.GetClassName(), text: e.GetMessage()}
			return &Error{Op: op, Table: table, Class: err.class, Attempts: 1, Err: err}
		}
		// Not found means done so long ago that the master has forgotten it.
		if result.GetState() != hbasepb.GetProcedureResultResponse_RUNNING {
			return nil
		}
		if err := backoff.Wait(ctx, min(backoff.HBase(c.opts.Pause, polls), maxPoll)); err != nil {
			return &Error{Op: op, Table: table, Attempts: 1, Err: err}
		}
	}
}

func (t *Table) schema() *hbasepb.TableSchema {
	s := &hbasepb.TableSchema{TableName: tableName(t.Name), Attributes: pairs(t.Values)}
	for _, f := range t.Families {
		s.ColumnFamilies = append(s.ColumnFamilies, &hbasepb.ColumnFamilySchema{Name: []byte(f.Name), Attributes: pairs(f.Values)})
	}
	return s
}

func tableOf(s *hbasepb.TableSchema) Table {
	t := Table{Name: tableString(s.GetTableName()), Values: values(s.Attributes)}
	for _, f := range s.ColumnFamilies {
		t.Families = append(t.Families, Family{Name: string(f.Name), Values: values(f.Attributes)})
	}
	return t
}

func pairs(values map[string]string) []*hbasepb.BytesBytesPair {
	var out []*hbasepb.BytesBytesPair
	for k, v := range values {
		out = append(out, &hbasepb.BytesBytesPair{First: []byte(k), Second: []byte(v)})
	}
	slices.SortFunc(out, func(a, b *hbasepb.BytesBytesPair) int { return bytes.Compare(a.First, b.First) })
	return out
}

func values(pairs []*hbasepb.BytesBytesPair) map[string]string {
	out := make(map[string]string, len(pairs))
	for _, p := range pairs {
		out[string(p.First)] = string(p.Second)
	}
	return out
}

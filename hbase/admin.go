package hbase

import "context"

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

// Region is one region of a table as hbase:meta has it.
type Region struct {
	Table      string
	Name       []byte // full region name: table,start,id.encoded.
	Encoded    string
	ID         int64
	Start, End []byte
	Server     string // host:port; empty when not assigned
	StartCode  int64  // of the server
	Offline    bool
	Split      bool
	State      string // OPEN, OPENING, SPLITTING …; empty when meta has none
}

// CreateNamespace makes a namespace; it is no error when it exists.
func (c *Client) CreateNamespace(ctx context.Context, name string) error { panic("not implemented") }

// CreateTable makes a table split at the given points and waits until its regions are open.
func (c *Client) CreateTable(ctx context.Context, t Table, splits [][]byte) error {
	panic("not implemented")
}

// Describe gives a table's description; the error Is ErrNoTable when there is none.
func (c *Client) Describe(ctx context.Context, table string) (Table, error) { panic("not implemented") }

// Tables lists the tables of all namespaces but hbase's own.
func (c *Client) Tables(ctx context.Context) ([]Table, error) { panic("not implemented") }

// DisableTable disables a table and waits for it.
func (c *Client) DisableTable(ctx context.Context, table string) error { panic("not implemented") }

// EnableTable enables a table and waits for it.
func (c *Client) EnableTable(ctx context.Context, table string) error { panic("not implemented") }

// DeleteTable deletes a disabled table and waits for it.
func (c *Client) DeleteTable(ctx context.Context, table string) error { panic("not implemented") }

// Regions lists a table's regions in key order, read from hbase:meta.
func (c *Client) Regions(ctx context.Context, table string) ([]Region, error) {
	panic("not implemented")
}

package hbase

import (
	"context"
	"iter"
	"net"
	"time"
)

// Options say where the cluster is and how patient the client is. The names in brackets are HBase's own settings.
type Options struct {
	Connect string // rpc://master1:16000,master2:16000
	User    string // effective user of SIMPLE authentication; default the process's

	Pause                 time.Duration // [hbase.client.pause] 100 ms
	PauseServerOverloaded time.Duration // [hbase.client.pause.server.overloaded] 500 ms
	Retries               int           // [hbase.client.retries.number] 15
	RPCTimeout            time.Duration // [hbase.rpc.timeout] 60 s: one call
	OperationTimeout      time.Duration // [hbase.client.operation.timeout] 20 min: one mutation or get with its retries
	ScannerTimeout        time.Duration // [hbase.client.scanner.timeout.period] 60 s
	DialTimeout           time.Duration // [hbase.ipc.client.socket.timeout.connect] 10 s

	MaxRequestRows   int // [hbase.client.max.perrequest.rows] 2048
	MaxRequestBytes  int // [hbase.client.max.perrequest.heapsize] 4 MiB
	MaxBufferedBytes int // mutations in memory over all lanes; 64 MiB
	MaxServerCalls   int // [hbase.client.max.perserver.tasks] 2
	MaxCellBytes     int // [hbase.client.keyvalue.maxsize] 10 MiB

	Dial  func(ctx context.Context, network, addr string) (net.Conn, error) // default net.Dialer
	Hooks Hooks
}

// Hooks are told what the client does. A nil hook is not called. They are called from the client's own goroutines, must be
// safe for concurrent use, and must not block.
type Hooks struct {
	Call     func(CallInfo)    // after every RPC
	Retry    func(RetryInfo)   // before every wait and resend
	Applied  func(AppliedInfo) // per region and answered Multi: how much was acknowledged
	Buffered func(bytes int)   // bytes of mutations in memory, whenever it changes by a batch
	Dial     func(addr string, err error)
}

// CallInfo is one finished RPC.
type CallInfo struct {
	Server   string
	Method   string
	Duration time.Duration
	Sent     int // bytes of the frame
	Err      error
}

// RetryInfo is one retry of one region's mutations, or of a read.
type RetryInfo struct {
	Table, Region, Server string
	Class                 string // exception class, or "timeout", "connection"
	Remedy                string // wait, relocate, reconnect, split
	Pause                 time.Duration
	Mutations             int
}

// AppliedInfo is what one region acknowledged in one call.
type AppliedInfo struct {
	Table  string
	Region *Region
	Rows   int
	Bytes  int
}

// Client is a client of one HBase cluster. It is safe for concurrent use; one per process is enough.
type Client struct{}

// Open checks the options, finds the active master and hbase:meta, and returns a client, or an error that says what was
// tried at which address.
func Open(ctx context.Context, opts Options) (*Client, error) { panic("not implemented") }

// Close fails what is still queued, closes all connections and waits for the client's goroutines.
func (c *Client) Close() error { panic("not implemented") }

// Get asks for one row. Columns nil means all; an empty Qualifier means the whole family.
type Get struct {
	Row         []byte
	Columns     []Column
	MaxVersions int   // 0 means 1
	From, To    int64 // time range [From, To); both 0 means all
}

// Column names a family, or one column of it.
type Column struct{ Family, Qualifier []byte }

// Result is the cells of one row in HBase's order; Cells is empty when the row does not exist.
type Result struct {
	Row   []byte
	Cells []Cell
}

// Get reads one row.
func (c *Client) Get(ctx context.Context, table string, g Get) (Result, error) {
	panic("not implemented")
}

// GetAll reads many rows with one Multi per server; results are in the order of gets.
func (c *Client) GetAll(ctx context.Context, table string, gets []Get) ([]Result, error) {
	panic("not implemented")
}

// Scan asks for rows from Start (inclusive) to Stop (exclusive). For a reverse scan Start is the greater row; nil means the
// end of the table in the scan's direction.
type Scan struct {
	Start, Stop    []byte
	Reverse        bool
	Limit          int // rows; 0 means all
	Caching        int // rows per call; 0 means as many as fit into MaxResultBytes
	Columns        []Column
	MaxVersions    int
	From, To       int64
	Raw            bool // delete markers and deleted cells too
	MaxResultBytes int  // per call; 0 means 2 MiB
}

// Scan reads rows in order. The sequence ends after the first error. A Result is the caller's to keep.
func (c *Client) Scan(ctx context.Context, table string, s Scan) iter.Seq2[Result, error] {
	panic("not implemented")
}

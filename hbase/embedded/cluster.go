package embedded

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"brine/hbase/embedded/internal/store"
	"brine/hbase/embedded/internal/zkserver"
	"brine/hbase/hbasepb"
	"brine/internal/certs"
	"brine/internal/sockets"

	"google.golang.org/protobuf/proto"
)

// cluster is the catalogue and what all nodes share. The catalogue's records list the tables; hbase:meta, a table like any other, lists the
// regions and is read when the server starts.
type cluster struct {
	opts     Options
	store    *store.Store
	id       string
	master   *Node
	places   places
	meta     *table
	controls controls
	holds    holders
	procs    procedures
	deltas   deltas
	limiter  *sockets.Limiter // of all connections of all nodes
	reading  gauge            // scans
	tls      *tls.Config      // nil: plain text
	kerberos *authenticator   // nil: no authentication

	zookeeper *zkserver.Server // nil: none

	ctx       context.Context // done when the server is closed
	cancel    context.CancelFunc
	wg        sync.WaitGroup // procedures, and the waits until the master notices a death
	lastStart atomic.Int64   // start code
	unnormal  atomic.Bool    // the normalizer is off
	waiting   atomic.Int32   // number of HoldMaster callers that keep the master initializing

	masterPort atomic.Uint32 // the port of the master's first listener

	change sync.Mutex // one change of the catalogue at a time; taken before mu
	idle   *sync.Cond // on change: signals that regions left a transition
	turn   int        // under change: index of the node that gets the next region

	mu         sync.RWMutex // guards what follows
	namespaces map[string]*hbasepb.NamespaceDescriptor
	tables     map[tableName]*table
	lastSpace  store.Space
	lastID     int64 // of regions
	balancing  bool
}

// The records of the catalogue.
const (
	recordCluster   = "cluster"    // cluster id
	recordNamespace = "namespace/" // + name: NamespaceDescriptor
	recordTable     = "table/"     // + name: tableRecord
)

type tableRecord struct {
	Namespace, Qualifier string
	Space                store.Space
	State                int32
	Schema               []byte // TableSchema
}

const systemNamespace = "hbase"

var metaName = tableName{systemNamespace, "meta"}

func newCluster(o Options, st *store.Store) *cluster {
	c := &cluster{
		reading: make(gauge, handlers), limiter: sockets.NewLimiter(maxConns, int64(o.MaxHeld), o.Warn),
		opts: o, store: st, balancing: true, turn: -1,
		namespaces: make(map[string]*hbasepb.NamespaceDescriptor), tables: make(map[tableName]*table),
		lastSpace: store.MetaSpace,
	}
	c.idle = sync.NewCond(&c.change)
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.meta = &table{name: metaName, space: store.MetaSpace, state: hbasepb.TableState_ENABLED}
	c.meta.setSchema(metaSchema(o.three()))
	c.meta.regions = []*region{newRegion(c.meta, nil, nil, 1)}
	c.tables[metaName] = c.meta
	for _, n := range []string{defaultNamespace, systemNamespace} {
		c.namespaces[n] = &hbasepb.NamespaceDescriptor{Name: []byte(n)}
	}
	return c
}

func metaSchema(three bool) (*hbasepb.TableSchema, store.Schema) {
	versions := func(v string) []*hbasepb.BytesBytesPair {
		return []*hbasepb.BytesBytesPair{{First: []byte("VERSIONS"), Second: []byte(v)}, {First: []byte("IN_MEMORY"), Second: []byte("true")}}
	}
	families := []*hbasepb.ColumnFamilySchema{
		{Name: []byte("info"), Attributes: versions("3")},
		{Name: []byte("rep_barrier"), Attributes: versions("2147483647")},
		{Name: []byte("table"), Attributes: versions("3")},
	}
	if three {
		families = slices.Insert(families, 1, &hbasepb.ColumnFamilySchema{Name: []byte(metaNamespace), Attributes: versions("3")})
	}
	s := withDefaults(&hbasepb.TableSchema{
		TableName:      metaName.message(),
		Attributes:     []*hbasepb.BytesBytesPair{{First: []byte("IS_META"), Second: []byte("true")}},
		ColumnFamilies: families,
	})
	f, err := checkSchema(s)
	if err != nil {
		panic(err) // the schema above is wrong
	}
	return s, f
}

func (c *cluster) now() int64 { return millis(c.opts.Clock()) }

// secure returns the connection after the handshake that Options.TLS requires.
func (c *cluster) secure(conn net.Conn) (net.Conn, error) {
	if c.tls == nil {
		return conn, nil
	}
	return certs.Accept(conn, c.tls, c.opts.TLS.PlainText)
}

// openTLS loads the files of Options.TLS.
func (c *cluster) openTLS() error {
	o := c.opts.TLS
	if o == nil {
		return nil
	}
	store, err := certs.Open(certs.Files{CA: o.CA, Cert: o.Cert, Key: o.Key}, func(err error) {
		if err != nil && c.opts.Warn != nil {
			c.opts.Warn(err)
		}
	})
	if err != nil {
		return fmt.Errorf("embedded: Options.TLS: %w", err)
	}
	c.tls = store.Server(clientAuth[o.ClientAuth], cmp.Or(o.MinVersion, tls.VersionTLS12))
	return nil
}

// listen creates the cluster's nodes and begins their first lives.
func (c *cluster) listen() error {
	alone := c.opts.Servers == 1
	c.master = &Node{cluster: c, index: -1, master: true, regions: alone}
	if err := c.start(c.master, c.opts.Addr); err != nil {
		return err
	}
	if alone {
		c.master.index = 0
		c.places.add(c.master)
		return nil
	}
	host, _, err := net.SplitHostPort(c.opts.Addr)
	if err != nil {
		return err
	}
	for i := range c.opts.Servers {
		p, port := &Node{cluster: c, index: i, regions: true}, 0
		if i < len(c.opts.Ports) {
			port = c.opts.Ports[i]
		}
		if err := c.start(p, net.JoinHostPort(host, strconv.Itoa(port))); err != nil {
			return err
		}
		c.places.add(p)
	}
	return nil
}

// openZooKeeper serves Options.ZooKeeper. The catalogue must be loaded.
func (c *cluster) openZooKeeper() error {
	if c.opts.ZooKeeper == "" {
		return nil
	}
	l, err := c.opts.Listen("tcp", c.opts.ZooKeeper)
	if err != nil {
		return fmt.Errorf("embedded: Options.ZooKeeper: %w", err)
	}
	c.zookeeper = zkserver.New(l, c.znodes, c.opts.Warn)
	return nil
}

// end stops the nodes and the goroutines that run for them, and closes the store.
func (c *cluster) end() error {
	c.cancel()
	if c.zookeeper != nil {
		c.zookeeper.Close()
	}
	for _, n := range c.lives() {
		n.end(false)
	}
	c.wg.Wait()
	return c.store.Close()
}

// lives returns the newest life of every node, the master's first. After a failed start it returns those that exist.
func (c *cluster) lives() (ns []*node) {
	for _, p := range append([]*Node{c.master}, c.places.all()...) {
		if n := p.life.Load(); n != nil && !slices.Contains(ns, n) {
			ns = append(ns, n)
		}
	}
	return ns
}

// load reads the catalogue, assigns the regions of enabled tables to the nodes in turn and writes the assignment to hbase:meta.
func (c *cluster) load() error {
	b := c.store.NewBatch()
	if err := c.loadID(b); err != nil {
		return err
	}
	if err := c.loadTables(); err != nil {
		return err
	}
	if err := c.loadRegions(b, c.loadRegion); err != nil {
		return err
	}
	open := []placement{c.place(c.meta.regions[0])}
	for _, t := range c.sorted() {
		if t == c.meta {
			continue
		}
		for _, r := range t.regions {
			if t.state == hbasepb.TableState_ENABLED {
				open = append(open, c.place(r))
				continue
			}
			r.state = hbasepb.RegionState_CLOSED
			if err := c.putRegion(b, r, r.state, nil); err != nil {
				return err
			}
		}
	}
	if c.opts.three() {
		for _, d := range c.sortedNamespaces() {
			if err := c.putNamespace(b, string(d.Name), d); err != nil {
				return err
			}
		}
	}
	return c.openIn(b, open)
}

// loadTables reads the catalogue's records.
func (c *cluster) loadTables() error {
	if err := c.store.Records(recordNamespace, c.loadNamespace); err != nil {
		return err
	}
	if err := c.store.Records(recordTable, c.loadTable); err != nil {
		return err
	}
	return c.loadSnapshots()
}

// place assigns a region to the next node in turn.
func (c *cluster) place(r *region) placement { return placement{r, c.pick()} }

func (c *cluster) loadID(b *store.Batch) error {
	id, err := c.store.Record(recordCluster)
	if err != nil {
		return err
	}
	if id == nil {
		var raw [16]byte
		rand.Read(raw[:])
		h := hex.EncodeToString(raw[:])
		id = []byte(h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:])
		if err := b.SetRecord(recordCluster, id); err != nil {
			return err
		}
	}
	c.id = string(id)
	return c.putTableState(b, c.meta)
}

func (c *cluster) loadNamespace(name string, value []byte) error {
	d := new(hbasepb.NamespaceDescriptor)
	if err := proto.Unmarshal(value, d); err != nil {
		return fmt.Errorf("record %s: %w", name, err)
	}
	c.namespaces[string(d.Name)] = d
	return nil
}

func (c *cluster) loadTable(name string, value []byte) error {
	var rec tableRecord
	schema := new(hbasepb.TableSchema)
	if err := json.Unmarshal(value, &rec); err != nil {
		return fmt.Errorf("record %s: %w", name, err)
	}
	if err := proto.Unmarshal(rec.Schema, schema); err != nil {
		return fmt.Errorf("record %s: %w", name, err)
	}
	families, err := checkSchema(schema)
	if err != nil {
		return fmt.Errorf("record %s: %w", name, err)
	}
	t := &table{name: tableName{rec.Namespace, rec.Qualifier}, space: rec.Space, state: hbasepb.TableState_State(rec.State)}
	t.setSchema(schema, families)
	c.tables[t.name] = t
	c.lastSpace = max(c.lastSpace, t.space)
	return nil
}

// putTable adds a table's record and its row in hbase:meta to a batch.
func (c *cluster) putTable(b *store.Batch, t *table, state hbasepb.TableState_State, schema *hbasepb.TableSchema) error {
	raw, err := proto.Marshal(schema)
	if err != nil {
		return err
	}
	rec, err := json.Marshal(tableRecord{Namespace: t.name.namespace, Qualifier: t.name.qualifier, Space: t.space,
		State: int32(state), Schema: raw})
	if err != nil {
		return err
	}
	if err := b.SetRecord(recordTable+t.name.String(), rec); err != nil {
		return err
	}
	return c.putState(b, t.name, state)
}

// find returns a table, or an exception if it does not exist.
func (c *cluster) find(name tableName) (*table, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if t, ok := c.tables[name]; ok {
		return t, nil
	}
	return nil, final(classTableNotFound, "%s", name)
}

// sorted returns the tables ordered by name.
func (c *cluster) sorted() []*table {
	c.mu.RLock()
	defer c.mu.RUnlock()
	ts := make([]*table, 0, len(c.tables))
	for _, t := range c.tables {
		ts = append(ts, t)
	}
	slices.SortFunc(ts, func(a, b *table) int { return cmp.Compare(a.name.String(), b.name.String()) })
	return ts
}

// regionID returns an id for a new region: the current time, but always greater than the last id.
func (c *cluster) regionID() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastID = max(c.lastID+1, c.now())
	return c.lastID
}

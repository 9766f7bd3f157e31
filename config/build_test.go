package config

import (
	"context"
	"crypto/tls"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"brine/event"
	"brine/hbase"
	"brine/indexer"
	"brine/indexer/elastic"
	"brine/ingest"
	"brine/lookup"
	"brine/query"
	"brine/registry"
	"brine/rowkey"
	"brine/sink"
)

func everything(t *testing.T) *Config {
	t.Helper()
	cfg, problems := Load("testdata/everything.good.yaml", environ())
	if cfg == nil {
		t.Fatal(problems)
	}
	return cfg
}

// byText compares keys by their normal form.
var byText = cmp.Comparer(func(a, b *rowkey.Key) bool { return a.String() == b.String() })

func TestHBaseOptions(t *testing.T) {
	want := hbase.Options{
		Connect: "rpc://master1:16000,master2:16000", User: "${brine}", Pause: 50 * time.Millisecond, PauseServerOverloaded: time.Second, Retries: 20,
		RPCTimeout: 10 * time.Second, OperationTimeout: 5 * time.Minute, ScannerTimeout: 30 * time.Second, DialTimeout: 2 * time.Second,
		TCPKeepAlive: 5 * time.Second, TCPDelay: true,
		MaxRequestRows: 1000, MaxRequestBytes: 2 << 20, MaxBufferedBytes: 32 << 20, MaxServerCalls: 4, MaxCellBytes: 1 << 20, MaxAnswerBytes: 32 << 20, Compression: "snappy",
		TLS: &hbase.TLS{ServerName: "hbase", MinVersion: tls.VersionTLS13},
	}
	cfg := everything(t)
	if diff := cmp.Diff(want, cfg.HBase()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	wantMutator := hbase.MutatorOptions{WriteBuffer: 4 << 20, Linger: 20 * time.Millisecond, Retries: 30, Pause: 200 * time.Millisecond, Durability: hbase.FsyncWAL}
	if diff := cmp.Diff(wantMutator, cfg.Pipeline("orders").Mutator()); diff != "" {
		t.Errorf("of the pipeline: -want +got:\n%s", diff)
	}
}

func TestKerberosOptions(t *testing.T) {
	var c Config
	if c.HBase().Kerberos != nil {
		t.Error("Kerberos without keytab and ticket cache")
	}
	c.Cluster.Kerberos = HBaseKerberos{Principal: "p", Keytab: "k", TicketCache: "t", Krb5Conf: "c", ServerPrincipal: "s", QOP: "auth-conf"}
	want := &hbase.Kerberos{Principal: "p", Keytab: "k", TicketCache: "t", Krb5Conf: "c", ServerPrincipal: "s", QOP: "auth-conf"}
	if diff := cmp.Diff(want, c.HBase().Kerberos); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTableDescription(t *testing.T) {
	table := everything(t).Table("shop:orders")
	want := hbase.Table{Name: "shop:orders", Families: []hbase.Family{
		{Name: "brief", Values: map[string]string{"TTL": "31449600", "VERSIONS": "3", "MIN_VERSIONS": "1", "COMPRESSION": "ZSTD", "BLOOMFILTER": "ROWCOL",
			"hbase.hstore.time.to.purge.deletes": "604800000", "BLOCKSIZE": "16384", "BLOCKCACHE": "false", "DATA_BLOCK_ENCODING": "FAST_DIFF", "IN_MEMORY": "true",
			"STORAGE_POLICY": "ONE_SSD", "REPLICATION_SCOPE": "1", "IS_MOB": "true", "MOB_THRESHOLD": "102400"}},
		{Name: "detail", Values: map[string]string{"TTL": "2147483647", "VERSIONS": "1", "MIN_VERSIONS": "0", "COMPRESSION": "NONE", "BLOOMFILTER": "ROW",
			"BLOCKSIZE": "65536", "BLOCKCACHE": "true", "DATA_BLOCK_ENCODING": "NONE", "IN_MEMORY": "false"}},
	}, Values: map[string]string{"MAX_FILESIZE": "21474836480", "MEMSTORE_FLUSHSIZE": "268435456", "DURABILITY": "FSYNC_WAL"}}
	if diff := cmp.Diff(want, table.HBase()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	points, err := table.SplitPoints()
	if diff := cmp.Diff([][]byte{[]byte("4"), []byte("8"), []byte("c\x00")}, points); diff != "" || err != nil {
		t.Errorf("split points: %v -want +got:\n%s", err, diff)
	}
}

func TestPipelineOptions(t *testing.T) {
	cfg := everything(t)
	p, key := cfg.Pipeline("orders"), cfg.Table("shop:orders").RowKeys().Newest()
	schema := event.Schema{Version: 2, Needed: []int{2, 1, 0}, Lateness: 48 * time.Hour, Fields: []event.Field{
		{Name: "order", Type: event.Text, Path: []string{"order", "id"}}, {Name: "user", Type: event.Text, Path: []string{"order", "user.id"}},
		{Name: "created", Type: event.TimeMS}, {Name: "at", Type: event.TimeS}, {Name: "items", Type: event.Text}, {Name: "total", Type: event.Float},
		{Name: "gone", Type: event.Bool},
	}}
	wantSink := sink.Options{Schema: schema, MaxCellBytes: 1 << 20, Rows: []sink.Rows{{
		Table:   sink.Table{Name: "shop:orders", Row: sink.RowEntity, Keys: rowkey.One(key), TTL: map[string]time.Duration{"brief": 364 * day}},
		Nulls:   sink.NullsMerge,
		Columns: []sink.Column{{Family: "brief", Qualifier: "total", Field: "total"}, {Family: "detail", Qualifier: "items", Field: "items"}, {Family: "brief", Qualifier: "at", Field: "at"}},
	}}}
	if diff := cmp.Diff(wantSink, p.Sink(), byText); diff != "" {
		t.Errorf("sink: -want +got:\n%s", diff)
	}
	wantIndexer := indexer.Options{Schema: schema, Calls: 4, MaxBulkDocuments: 500, MaxBulkBytes: 1 << 20, MaxDocumentBytes: 512 << 10, MaxBufferedBytes: 32 << 20, MaxRecentBytes: 24 << 20,
		CallTimeout: 20 * time.Second, RetryFor: time.Minute, Pause: 50 * time.Millisecond, MaxPause: 2 * time.Second, ProbeEvery: 20 * time.Second,
		Documents: []indexer.Document{{Index: "orders", Key: key, Changes: indexer.Partial, Deleted: "gone", Purge: 8 * 24 * time.Hour, Set: []indexer.Column{
			{Name: "order", Field: "order", Type: indexer.Keyword}, {Name: "items", Field: "items", Type: indexer.Text}, {Name: "total", Field: "total", Type: indexer.Double}}}}}
	if diff := cmp.Diff(wantIndexer, p.Indexer(), byText); diff != "" {
		t.Errorf("indexer: -want +got:\n%s", diff)
	}
	got := cfg.Ingest(p, p.RowsGroup())
	if got.Kafka.SASL == nil || got.Kafka.SASL.Name() != "SCRAM-SHA-512" || got.Kafka.TLS != nil {
		t.Errorf("sasl %v, tls %v", got.Kafka.SASL, got.Kafka.TLS != nil)
	}
	if got.Budget.Size() != 32<<20 {
		t.Errorf("budget of %d bytes", got.Budget.Size())
	}
	got.Kafka.SASL, got.Budget = nil, nil
	wantIngest := ingest.Options{
		Kafka: ingest.Kafka{Brokers: []string{"kafka-1:9092", "kafka-2:9092"}, ClientID: "brine-1"}, Topic: "shop.orders", Group: "couriers.orders.rows",
		Schema: schema, Start: ingest.At(time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)), OutOfRange: ingest.FromEarliest,
		SessionTimeout: 10 * time.Second, RebalanceTimeout: time.Minute, CommitInterval: 500 * time.Millisecond, RequestTimeout: 5 * time.Second,
		StopTimeout: 10 * time.Second, MaxFetchBytes: 2 << 20, MaxBatchRecords: 500, MaxBatchBytes: 512 << 10, Window: 4, RecordsPerSecond: 10000,
		InstanceID: "brine-1", GroupProtocol: ingest.Classic, RetryMax: 5 * time.Second, HaltPause: time.Minute, HaltAfterRejects: 50, DeadLetterTopic: "graveyard",
	}
	if diff := cmp.Diff(wantIngest, got, cmp.AllowUnexported(ingest.Position{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("ingest: -want +got:\n%s", diff)
	}
	if group := p.DocumentsGroup(); group != "couriers.orders.documents" {
		t.Errorf("documents' group is %s", group)
	}
}

func TestElasticOptions(t *testing.T) {
	got := everything(t).Search.Elastic()
	want := elastic.Options{Addresses: []string{"https://search-1:9200", "https://search-2:9200"}, Username: "brine", Password: "hunter2",
		Analyzer: "smartcn", Shards: 2, Replicas: elastic.NoReplicas, Refresh: 5 * time.Second, MaxAnswerBytes: 64 << 20}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestRegistryOptions(t *testing.T) {
	got, ok := everything(t).Registry()
	want := registry.Options{URLs: []string{"https://registry-1:8080/apis/ccompat/v7", "https://registry-2:8080/apis/ccompat/v7"},
		Framing: registry.ApicurioGlobal, Username: "brine", Password: "hunter2",
		Cache: "./data/schemas", Timeout: 3 * time.Second, UnknownAfter: 20 * time.Second, MaxBytes: 32 << 20}
	if c := got.TLS(); c.ServerName != "registry" || c.MinVersion != tls.VersionTLS12 || c.InsecureSkipVerify {
		t.Errorf("TLS %+v", c)
	}
	got.TLS = nil
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("%v, -want +got:\n%s", ok, diff)
	}
	cfg, problems := Parse("brine.yaml", []byte(minimal), environ())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if _, ok := cfg.Registry(); ok {
		t.Error("a registry that no section names")
	}
	cfg, _ = Parse("brine.yaml", []byte(minimal+"registry: { url: 'http://localhost:8081' }\n"), environ())
	defaults, _ := cfg.Registry()
	owner := registry.Options{URLs: []string{"http://localhost:8081"}, MaxBytes: 16 << 20}
	owner.EnsureDefaults()
	defaults.EnsureDefaults()
	if diff := cmp.Diff(owner, defaults, cmpopts.IgnoreFields(registry.Options{}, "Hooks")); diff != "" {
		t.Errorf("-owner +config:\n%s", diff)
	}
}

type nowhere struct{}

func (nowhere) Submit(context.Context, *event.Batch) event.Flight { return nil }
func (nowhere) Release()                                          {}
func (nowhere) Hurry()                                            {}

// TestOptionsAreValid checks Load's promise: what Load accepts, no package rejects.
func TestOptionsAreValid(t *testing.T) {
	for _, file := range append(files(t, "testdata/*.good.yaml"), files(t, "../examples/*.yaml")...) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			cfg, problems := Load(file, environ())
			if cfg == nil {
				t.Fatal(problems)
			}
			valid(t, cfg)
		})
	}
}

// valid passes the options of cfg to their packages.
func valid(t *testing.T, cfg *Config) {
	t.Helper()
	if _, embedded := cfg.Search.Embedded(); !embedded && cfg.Search.Connect != "" {
		o := cfg.Search.Elastic()
		o.EnsureDefaults()
		if err := o.Validate(); err != nil {
			t.Error(err)
		}
	}
	if o, ok := cfg.Registry(); ok {
		o.EnsureDefaults()
		if err := o.Validate(); err != nil {
			t.Error(err)
		}
	}
	for _, p := range cfg.Pipelines {
		if len(p.Documents) > 0 {
			o := p.Indexer()
			o.EnsureDefaults()
			if err := o.Validate(); err != nil {
				t.Error(err)
			}
		}
		if _, err := sink.New(nil, p.Sink()); err != nil {
			t.Error(err)
		}
		o := cfg.Ingest(p, p.RowsGroup())
		o.Writer = nowhere{}
		o.EnsureDefaults()
		if err := o.Validate(); err != nil {
			t.Error(err)
		}
	}
}

// TestDefaultsAreTheOwners checks that the documented defaults are those of the packages that own the options.
func TestDefaultsAreTheOwners(t *testing.T) {
	cfg, problems := Parse("brine.yaml", []byte(minimal), environ())
	if cfg == nil {
		t.Fatal(problems)
	}
	gotIngest := cfg.Ingest(cfg.Pipelines[0], "group")
	wantIngest := ingest.Options{Kafka: ingest.Kafka{Brokers: gotIngest.Kafka.Brokers}, Topic: gotIngest.Topic, Group: gotIngest.Group, Schema: gotIngest.Schema}
	wantIngest.EnsureDefaults()
	if diff := cmp.Diff(wantIngest, gotIngest, cmp.AllowUnexported(ingest.Position{}),
		cmpopts.IgnoreFields(ingest.Options{}, "Heartbeat", "RetryMin", "RetryMax", "HaltPause", "HaltAfterRejects", "Budget", "Pace", "Logger", "Hooks", "AwaitTopic"), cmpopts.IgnoreFields(ingest.Kafka{}, "Dial")); diff != "" {
		t.Errorf("ingest: -owner +config:\n%s", diff)
	}
}

func TestQueryDescription(t *testing.T) {
	cfg := everything(t)
	table := cfg.Table("shop:orders")
	got, ok := cfg.Query(table)
	want := query.Table{Name: "shop:orders", Keys: table.RowKeys(), Columns: []query.Column{
		{Family: "brief"}, // for a row of nulls
		{Family: "brief", Qualifier: "total", Field: "total", Type: event.Float},
		{Family: "detail", Qualifier: "items", Field: "items", Type: event.Text},
		{Family: "brief", Qualifier: "at", Field: "at", Type: event.TimeS},
	}, Index: &query.Index{Name: "orders", Fields: []query.IndexField{
		{Name: "order", Field: "order", Type: rowkey.Text},
		{Name: "items", Field: "items", Type: rowkey.Text, Words: true},
		{Name: "total", Field: "total", Type: rowkey.Float},
	}}}
	if diff := cmp.Diff(want, got, byText); diff != "" || !ok {
		t.Errorf("-want +got:\n%s", diff)
	}
	types := map[string]rowkey.Type{"user": rowkey.Text, "created": rowkey.Time, "order": rowkey.Text}
	if diff := cmp.Diff(types, cfg.KeyTypes(table)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestPackedColumns(t *testing.T) {
	cfg, problems := Load("testdata/packed.good.yaml", environ())
	if cfg == nil {
		t.Fatal(problems)
	}
	some := &event.Pack{Packing: event.MessagePack, Fields: []event.PackedField{
		{Name: "s", Field: "station", Type: event.Text}, {Name: "w", Field: "weight", Type: event.Float}}}
	all := &event.Pack{Packing: event.JSON, Fields: []event.PackedField{
		{Name: "waybill", Field: "waybill", Type: event.Text}, {Name: "at", Field: "at", Type: event.TimeS}, {Name: "station", Field: "station", Type: event.Text},
		{Name: "weight", Field: "weight", Type: event.Float}, {Name: "deleted", Field: "deleted", Type: event.Bool}}}
	want := []sink.Column{{Family: "e", Qualifier: "s", Field: "station"}, {Family: "e", Qualifier: "p", Pack: some}, {Family: "f", Qualifier: "p", Pack: all}}
	if diff := cmp.Diff(want, cfg.Pipelines[0].Sink().Rows[0].Columns); diff != "" {
		t.Errorf("sink: -want +got:\n%s", diff)
	}
	got, _ := cfg.Query(cfg.Tables[0])
	if got.Deleted != "deleted" {
		t.Error("a packed field that marks rows as deleted is overlooked")
	}
	wantRead := []query.Column{{Family: "e"}, {Family: "e", Qualifier: "s", Field: "station", Type: event.Text}, {Family: "e", Qualifier: "p", Pack: some}, {Family: "f", Qualifier: "p", Pack: all}}
	if diff := cmp.Diff(wantRead, got.Columns); diff != "" {
		t.Errorf("query: -want +got:\n%s", diff)
	}
}

// TestChangesAreBuilt checks that the settings for versions, images, deletes and lookups reach the packages that implement them.
func TestChangesAreBuilt(t *testing.T) {
	cfg, problems := Load("testdata/changes.good.yaml", environ())
	if cfg == nil {
		t.Fatal(problems)
	}
	log := cfg.Pipeline("log")
	want := event.Images{Before: []string{"payload", "before"}, After: []string{"payload", "after"}, Deleted: "gone"}
	if diff := cmp.Diff(want, log.Schema().Images); diff != "" {
		t.Errorf("images: -want +got:\n%s", diff)
	}
	var deletes []sink.Deletes
	for _, r := range log.Sink().Rows {
		deletes = append(deletes, r.Deletes)
	}
	if diff := cmp.Diff([]sink.Deletes{{Field: "gone", Hard: true}, {Field: "gone"}}, deletes); diff != "" {
		t.Errorf("deletes: -want +got:\n%s", diff)
	}
	if got := log.Indexer().Documents[0].Deleted; got != "gone" {
		t.Errorf("documents are deleted by %q", got)
	}
	if s := cfg.Pipeline("creations").Schema(); s.Fields[s.Version].Name != "at" || s.Sequence != "n" {
		t.Errorf("version %d, sequence %q", s.Version, s.Sequence)
	}
	for table, want := range map[string]VersionKind{"ids": Sequence, "states": Milliseconds} {
		if got := cfg.Versions(cfg.Table(table)); got != want {
			t.Errorf("versions of %s: %v", table, got)
		}
	}
	if q, ok := cfg.Query(cfg.Table("ids")); !ok || q.Deleted != "cancelled" {
		t.Errorf("rows of ids are marked by %q", q.Deleted)
	}
	got, ok := cfg.Pipeline("states").Lookup()
	if !ok || got.Table != "ids" || len(got.Keys) != 1 || got.Keys[0] != cfg.Table("ids").RowKeys()[0] || got.Wait != time.Minute {
		t.Errorf("looks up %+v", got)
	}
	if diff := cmp.Diff([]lookup.Field{{Name: "user", Family: "e", Qualifier: "u"}, {Name: "created", Family: "e", Qualifier: "c"}}, got.Fields); diff != "" {
		t.Errorf("looked up: -want +got:\n%s", diff)
	}
	if _, ok := log.Lookup(); ok {
		t.Error("the log looks nothing up")
	}
}

// A pattern matches whole names, and neither dead letter topics of any pipeline nor Kafka's internal topics.
func TestWhatAPatternReads(t *testing.T) {
	cfg, problems := Load("testdata/topics.good.yaml", environ())
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	named, pattern := cfg.Pipelines[0], cfg.Pipelines[1]
	pattern.match = regexp.MustCompile(`\A(?:.*shop\..*|courier\.scans)\z`)
	cfg.Pipelines[0].DeadLetters, cfg.Kafka.ControlTopic = "shop.trash", "shop.control"
	for topic, want := range map[string]bool{"shop.orders": true, "shop.failed": false, "shop.control": false, "shop.trash": false, "shop.orders.dead": false,
		"__shop.orders": false, "courier.scans": true, "courier.scans.b": false, "shop.": true} {
		if pattern.Reads(topic) != want {
			t.Errorf("%s is read: %t, expected %t", topic, !want, want)
		}
	}
	on := named.On("courier.late")
	o, all := cfg.Ingest(on, "g"), cfg.Ingest(named, "g")
	if on.Several() || !on.Part() || o.Topic != "courier.late" || o.Topics != nil || !slices.Equal(all.Topics.Names, named.Named()) ||
		all.Topics.Start["courier.late"].String() != "latest" || len(all.Topics.Start) != 2 || all.Topics.Match != nil {
		t.Errorf("on a topic %+v, on all %+v", o, all.Topics)
	}
	if match := cfg.Ingest(pattern, "g"); match.Topics.Match == nil || match.Topics.Names != nil || match.DeadLetterTopic != "shop.failed" {
		t.Errorf("by a pattern %+v", match.Topics)
	}
}

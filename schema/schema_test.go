package schema

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brine/config"
	"brine/event"
	"brine/hbase"
	"brine/indexer"
	"brine/ingest"
	"brine/internal/fault"
	"brine/search"
)

func load(t *testing.T, text string) *config.Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "brine.yaml")
	if err := os.WriteFile(file, []byte("kafka: { brokers: [127.0.0.1:1] }\nhbase: { connect: \"rpc://127.0.0.1:1\" }\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, problems := config.Load(file, func(string) (string, bool) { return "", false })
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return cfg
}

// cluster holds tables and records what is done to them. It has two servers.
type cluster struct {
	tables map[string]hbase.Table
	done   []string
	taken  bool  // another client creates what is about to be created
	err    error // of every creation
}

func (c *cluster) Describe(_ context.Context, table string) (hbase.Table, error) {
	t, ok := c.tables[table]
	if !ok {
		return t, hbase.ErrNoTable
	}
	return t, nil
}

func (c *cluster) Regions(context.Context, string) ([]hbase.Region, error) {
	return make([]hbase.Region, 3), nil
}

func (c *cluster) ClusterStatus(context.Context) (hbase.ClusterStatus, error) {
	return hbase.ClusterStatus{Servers: make([]hbase.ServerLoad, 2)}, nil
}

func (c *cluster) note(format string, args ...any) error {
	c.done = append(c.done, fmt.Sprintf(format, args...))
	return nil
}

func (c *cluster) CreateNamespace(_ context.Context, name string) error {
	return c.note("namespace %s", name)
}

func (c *cluster) CreateTable(_ context.Context, t hbase.Table, splits [][]byte) error {
	if c.taken {
		return fmt.Errorf("create: %w", hbase.ErrTableExists)
	}
	if c.err != nil {
		return c.err
	}
	c.tables[t.Name] = t
	return c.note("create %s with %d splits", t.Name, len(splits))
}

func (c *cluster) AlterTable(_ context.Context, t hbase.Table) error {
	return c.note("alter %s with %d families", t.Name, len(t.Families))
}

func (c *cluster) AddFamily(_ context.Context, table string, f hbase.Family) error {
	return c.note("add %s of %s", f.Name, table)
}

func (c *cluster) AlterFamily(_ context.Context, table string, f hbase.Family) error {
	return c.note("alter %s of %s: %s", f.Name, table, f.Values["VERSIONS"])
}

// engine has one index, or none.
type engine struct {
	indexer.Engine
	has  *indexer.Mapping
	err  error
	done []string
}

func (e *engine) Mapping(_ context.Context, index string) (indexer.Mapping, error) {
	switch {
	case e.err != nil:
		return indexer.Mapping{}, e.err
	case e.has == nil:
		return indexer.Mapping{}, fmt.Errorf("%s: %w", index, search.ErrNoIndex)
	}
	return *e.has, nil
}

func (e *engine) EnsureIndex(_ context.Context, m indexer.Mapping) error {
	e.done = append(e.done, m.Index)
	return e.err
}

const twoTables = `
search: { connect: "http://127.0.0.1:1" }
tables:
  "shop:new": { row: entity, key: 'md5(id, 4) + id', families: { e: {} }, regions: 4 }
  old: { row: entity, key: 'md5(id, 4) + id', families: { e: { versions: 2, ttl: 1d }, f: {} }, regions: 3, max_filesize: 20GiB }
indexes:
  orders: { fields: { id: keyword, v: text } }
pipelines:
  p:
    topic: t
    fields: { id: text, at: time_ms, v: text }
    version: at
    rows: [ { table: "shop:new", set: { "e:v": v } }, { table: old, set: { "e:v": v, "f:v": v } } ]
    documents: [ { index: orders, table: old, set: { id: id, v: v } } ]
`

func oldCluster() *cluster {
	return &cluster{tables: map[string]hbase.Table{"old": {Name: "old", Families: []hbase.Family{
		family("e", "VERSIONS", "5"), family("theirs", "VERSIONS", "9"),
	}}}}
}

// TestPlanAndApply creates, alters and adds, and does not touch what the configuration does not name.
func TestPlanAndApply(t *testing.T) {
	cfg := load(t, twoTables)
	hbase, indexes := oldCluster(), &engine{}
	stores := Stores{Cluster: hbase, Search: indexes}
	c, err := Plan(t.Context(), cfg, stores)
	if err != nil {
		t.Fatal(err)
	}
	steps := map[string]TableStep{}
	for _, s := range c.Tables {
		steps[s.Table] = s
	}
	if s := steps["shop:new"]; s.Action != Create || s.Regions != 4 || len(s.Splits) != 3 || len(s.Changes) != 0 {
		t.Errorf("new: %+v", s)
	}
	if s := steps["old"]; s.Action != Alter || s.Regions != 3 || s.Splits != nil {
		t.Errorf("old: %+v", s)
	}
	if len(c.Indexes) != 1 || c.Indexes[0].Action != Create {
		t.Errorf("indexes: %+v", c.Indexes)
	}
	if len(hbase.done)+len(indexes.done) != 0 {
		t.Errorf("planning did %q %q", hbase.done, indexes.done)
	}
	err = c.Losses(AllowShorterTTL)
	if err == nil || !strings.Contains(err.Error(), AllowFewerVersions) || strings.Contains(err.Error(), AllowShorterTTL) {
		t.Errorf("losses: %v", err)
	}
	if err := c.Losses(AllowShorterTTL, AllowFewerVersions); err != nil {
		t.Errorf("losses that are allowed: %v", err)
	}
	if err := c.Apply(t.Context(), stores); err != nil {
		t.Fatal(err)
	}
	want := []string{"namespace shop", "create shop:new with 3 splits", "alter e of old: 2", "add f of old", "alter old with 2 families"}
	slices.Sort(want)
	if slices.Sort(hbase.done); !slices.Equal(hbase.done, want) || !slices.Equal(indexes.done, []string{"orders"}) {
		t.Errorf("done were %q and %q, want %q", hbase.done, indexes.done, want)
	}
	if c.Tables[0].Action != Created && c.Tables[1].Action != Created || c.Indexes[0].Action != Created || len(c.Altered()) != 0 {
		t.Errorf("after it: %+v", c)
	}
}

// TestWhatCanBeReachedIsApplied checks that a store that fails keeps nothing from the other, when it is planned and when it is applied, and
// that what is wrong with the configuration keeps everything.
func TestWhatCanBeReachedIsApplied(t *testing.T) {
	cfg := load(t, twoTables)
	hbase, away := oldCluster(), errors.New("connection refused")
	c, err := Plan(t.Context(), cfg, Stores{Cluster: hbase, Search: &engine{err: away}})
	if !errors.Is(err, away) || c == nil {
		t.Fatalf("planned %v, %v", c, err)
	}
	if len(c.Indexes) != 1 || c.Indexes[0].Index != "orders" || c.Indexes[0].Action != Unreached {
		t.Errorf("indexes: %+v", c.Indexes)
	}
	if err := c.Apply(t.Context(), Stores{Cluster: hbase, Search: &engine{err: away}}); err != nil || c.Indexes[0].Action != Unreached ||
		!slices.Contains(hbase.done, "create shop:new with 3 splits") {
		t.Errorf("applied %+v, %v; done were %q", c, err, hbase.done)
	}

	indexes := &engine{}
	c, err = Plan(t.Context(), cfg, Stores{Search: indexes})
	if err != nil || c.Tables[0].Action != Unreached || c.Tables[1].Action != Unreached {
		t.Fatalf("without a cluster: %+v, %v", c, err)
	}
	if err := c.Apply(t.Context(), Stores{Search: indexes}); err != nil || !slices.Equal(indexes.done, []string{"orders"}) {
		t.Errorf("without a cluster: %v; done were %q", err, indexes.done)
	}

	full := oldCluster()
	full.err, indexes = errors.New("quota exceeded"), &engine{}
	c, err = Plan(t.Context(), cfg, Stores{Cluster: full, Search: indexes})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Apply(t.Context(), Stores{Cluster: full, Search: indexes}); !errors.Is(err, full.err) ||
		!slices.Equal(indexes.done, []string{"orders"}) || c.Indexes[0].Action != Created {
		t.Errorf("a table that is refused: %v; done were %q", err, indexes.done)
	}

	other := &engine{has: &indexer.Mapping{Index: "orders", Fields: []indexer.Field{{Name: "v", Type: "long"}, {Name: "id", Type: "keyword"}}}}
	if c, err := Plan(t.Context(), cfg, Stores{Cluster: oldCluster(), Search: other}); c != nil || err == nil {
		t.Errorf("fields that cannot be changed: %+v, %v", c, err)
	}
}

func TestCreateLeavesTablesThatExist(t *testing.T) {
	cfg := load(t, twoTables)
	hbase := oldCluster()
	hbase.taken = true
	stores := Stores{Cluster: hbase}
	c, err := Plan(t.Context(), cfg, stores)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Create(t.Context(), stores); err != nil {
		t.Fatal(err)
	}
	actions := map[string]Action{}
	for _, s := range c.Tables {
		actions[s.Table] = s.Action
	}
	if want := map[string]Action{"shop:new": Nothing, "old": Alter}; !maps.Equal(actions, want) || !slices.Equal(hbase.done, []string{"namespace shop"}) || c.Indexes != nil {
		t.Errorf("%v, done were %q, indexes %v; want %v", actions, hbase.done, c.Indexes, want)
	}
}

// TestControlTopicThatForgetsIsReported checks that check reports a control topic whose records the brokers delete, and only such a topic.
func TestControlTopicThatForgetsIsReported(t *testing.T) {
	cfg := load(t, twoTables)
	denied := fmt.Errorf("topic: %w", ingest.ErrDenied)
	for _, c := range []struct {
		policy string
		err    error
		wrong  bool
		fails  error
	}{
		{"compact", nil, false, nil}, {"delete", nil, true, nil}, {"compact,delete", nil, true, nil},
		{"", ingest.ErrNoTopic, false, nil}, {"", denied, false, denied},
	} {
		message, fix, err := ControlForgets(t.Context(), cfg, &topics{settings: map[string]string{"cleanup.policy": c.policy}, err: c.err})
		if (message != "") != c.wrong || c.wrong && !strings.Contains(message, cfg.Kafka.Control()+" has") || (fix != "") != c.wrong ||
			!errors.Is(err, c.fails) || (err == nil) != (c.fails == nil) {
			t.Errorf("with %q: %q, %q, %v", c.policy, message, fix, err)
		}
	}
	servers := Servers{Stores: Stores{Cluster: oldCluster(), Search: &engine{}},
		Topics: &topics{settings: map[string]string{"cleanup.policy": "delete"}}}
	found, err := Check(t.Context(), cfg, "brine.yaml", servers)
	if err != nil || !slices.ContainsFunc(found, func(p config.Problem) bool {
		return p.Setting == "kafka.control_topic" && p.Severity == config.Error
	}) {
		t.Errorf("found %v, %v", found, err)
	}
}

func TestPlanOfASearchEngineThatDoesNotAnswerOrRefuses(t *testing.T) {
	cfg := load(t, twoTables)
	for _, c := range []struct {
		engine engine
		kind   fault.Kind
		says   string
	}{
		{engine{err: errors.New("connection refused")}, fault.Unreachable, "search.connect: connection refused"},
		{engine{err: &indexer.RequestError{Status: 403}}, fault.Failed, "search.connect: "},
		{engine{has: &indexer.Mapping{Index: "orders", Fields: []indexer.Field{{Name: "id", Type: indexer.Text}, {Name: "v", Type: indexer.Text}}}}, fault.Usage, "id"},
	} {
		_, err := Plan(t.Context(), cfg, Stores{Cluster: oldCluster(), Search: &c.engine})
		f, _ := errors.AsType[*fault.Error](err)
		if err == nil || !strings.Contains(err.Error(), c.says) || (f == nil) != (c.kind == fault.Failed) || f != nil && f.Kind != c.kind {
			t.Errorf("%v, want kind %d: %s", err, c.kind, c.says)
		}
	}
}

// topics are the brokers' topics.
type topics struct {
	records  []event.Record
	settings map[string]string
	err      error
	asked    int
}

func (t *topics) Latest(context.Context, string, int) ([]event.Record, error) {
	return t.records, t.err
}
func (t *topics) Settings(context.Context, string, ...string) (map[string]string, error) {
	t.asked++
	return t.settings, t.err
}

func (t *topics) Each(_ context.Context, p *config.Pipeline) (parts []*config.Pipeline, err error) {
	for _, name := range p.Named() {
		parts = append(parts, p.On(name))
	}
	return parts, nil
}

func (t *topics) DeadLetterRoom(context.Context, *config.Pipeline) (takes, should int, err error) {
	return 1000, 2000, nil
}

func TestCheckNamesEverything(t *testing.T) {
	cfg := load(t, twoTables)
	servers := Servers{
		Stores: Stores{Cluster: oldCluster(), Search: &engine{}}, Untested: "HBase 9 is untested",
		Topics: &topics{records: []event.Record{{Timestamp: 1, Value: []byte("no JSON")}}},
	}
	found, err := Check(t.Context(), cfg, "a.yaml", servers)
	if err != nil {
		t.Fatal(err)
	}
	said := fmt.Sprint(found)
	for _, want := range []string{
		"HBase 9 is untested", "tables.shop:new: the table does not exist", "brine tables apply -c a.yaml", "tables.old: family f is missing",
		"tables.old: family e: VERSIONS is 5, but the configuration says 2", "indexes.orders: the index does not exist",
		"1 of 1 record would become dead letters", "topic t.dead accepts records of at most 1,000 bytes",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	servers.Topics = &topics{err: fmt.Errorf("topic t: %w", ingest.ErrNoTopic)}
	if found, err = Check(t.Context(), cfg, "a.yaml", servers); err != nil || !strings.Contains(fmt.Sprint(found), "topic t does not exist") {
		t.Errorf("without a topic: %v, %v", found, err)
	}
}

const purged = `
tables:
  t: { row: entity, key: 'md5(id, 4) + id', families: { e: { purge_deletes_after: 2d } }, regions: 4 }
pipelines:
  p:
    topic: t
    fields: { id: text, at: time_ms, gone: bool }
    version: at
    allowed_lateness: 1h
    rows: [ { table: t, deleted: gone, hard_deletes: true, set: { "e:g": gone } } ]
`

// TestDeletesOutliveTheTopic checks that delete markers must outlast the records that could be read after them.
func TestDeletesOutliveTheTopic(t *testing.T) {
	cfg := load(t, purged)
	good := map[string]string{"message.timestamp.type": "LogAppendTime", "cleanup.policy": "delete", "segment.ms": "3600000", "retention.ms": "162000000"}
	for _, c := range []struct{ setting, value, want string }{ // 2d are 45h, and an hour each for the segment, lateness and clocks
		{"", "", ""},
		{"retention.ms", "162000001", "can be read until 48h0m0.001s after its version"},
		{"retention.ms", "-1", "keeps its records forever, or compacts them; family e of t"},
		{"retention.ms", "1000", ""},
		{"segment.ms", "604800000", "segment.ms 7d"},
		{"segment.ms", "", "keeps its records forever"},
		{"message.timestamp.type", "CreateTime", "has the producers' timestamps"},
		{"cleanup.policy", "compact,delete", "keeps its records forever, or compacts them"},
	} {
		settings := maps.Clone(good)
		settings[c.setting] = c.value
		err := CheckDeletes(t.Context(), cfg, cfg.Pipelines[0], &topics{settings: settings})
		f, _ := errors.AsType[*fault.Error](err)
		if (err == nil) != (c.want == "") || err != nil && (f == nil || f.Kind != fault.Usage || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s %s: %v, want %q", c.setting, c.value, err, c.want)
		}
	}
	if err := CheckDeletes(t.Context(), cfg, cfg.Pipelines[0], &topics{err: ingest.ErrNoTopic}); err != nil {
		t.Errorf("of a topic that does not exist: %v", err)
	}
	broken := errors.New("broken")
	if err := CheckDeletes(t.Context(), cfg, cfg.Pipelines[0], &topics{err: broken}); !errors.Is(err, broken) {
		t.Errorf("of brokers that do not answer: %v", err)
	}
}

// TestNothingIsAskedWhereNoDeleteIsForgotten checks that the brokers get no requests about a pipeline that only marks what is deleted.
func TestNothingIsAskedWhereNoDeleteIsForgotten(t *testing.T) {
	cfg := load(t, twoTables)
	brokers := &topics{}
	if err := CheckDeletes(t.Context(), cfg, cfg.Pipelines[0], brokers); err != nil || brokers.asked > 0 {
		t.Errorf("%v, asked %d times", err, brokers.asked)
	}
}

// slowCluster begins the last step, and does not answer.
type slowCluster struct {
	*cluster
	slow string
}

func (c *slowCluster) CreateTable(ctx context.Context, t hbase.Table, splits [][]byte) error {
	if c.slow == "create" {
		return &hbase.Error{Op: "create table", Table: t.Name, Err: &hbase.BegunError{Procedure: 7, Err: context.DeadlineExceeded}}
	}
	return c.cluster.CreateTable(ctx, t, splits)
}

func (c *slowCluster) AddFamily(ctx context.Context, table string, f hbase.Family) error {
	if c.slow == "add" {
		return errors.New("denied")
	}
	return c.cluster.AddFamily(ctx, table, f)
}

// If not everything could be applied, the steps show what was done, what was begun, and what was not.
func TestAnApplyThatFailsSaysHowFarItGot(t *testing.T) {
	cfg := load(t, twoTables)
	for _, c := range []struct {
		slow string
		want [3]Action
		done bool
	}{
		{"", [3]Action{Created, Altered, Begun}, true},
		{"create", [3]Action{Begun, Alter, Begun}, true},
		{"add", [3]Action{Created, Begun, Begun}, true},
	} {
		tables := oldCluster()
		stores := Stores{Cluster: &slowCluster{tables, c.slow}, Search: &engine{}}
		changes, err := Plan(t.Context(), cfg, stores)
		if err != nil {
			t.Fatal(err)
		}
		if changes.Done() {
			t.Error("nothing was done yet")
		}
		stores.Search = &engine{err: context.DeadlineExceeded}
		err = changes.Apply(t.Context(), stores)
		got := [3]Action{changes.Tables[0].Action, changes.Tables[1].Action, changes.Indexes[0].Action}
		if err == nil || got != c.want || changes.Done() != c.done {
			t.Errorf("%q: %v, %v, want %v", c.slow, err, got, c.want)
		}
	}
}

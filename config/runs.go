package config

import (
	"cmp"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"brine/contract"
	"brine/event"
	"brine/forecast"
	"brine/indexer"
	"brine/ingest"
	"brine/lookup"
	"brine/mask"
	"brine/plan"
	"brine/registry"
	"brine/sink"
)

// Options returns how to reach the brokers.
func (k *Kafka) Options() ingest.Kafka {
	return ingest.Kafka{Brokers: k.Brokers, ClientID: k.ClientID, TLS: k.tls, SASL: k.sasl, Failed: k.failed}
}

// Control returns the topic for requests to running pipelines.
func (k *Kafka) Control() string { return cmp.Or(k.ControlTopic, k.Group+".control") }

// Watch sets the function to call for failed connections to brokers; see ingest.Kafka.
func (k *Kafka) Watch(failed func(address string, failures int, err error)) { k.failed = failed }

// Half is one of a pipeline's two loops: the one that writes its rows, or its documents.
type Half struct {
	Pipeline *Pipeline
	Kind     string // rows or documents
}

// Name returns the half's name, such as orders.rows.
func (h Half) Name() string { return h.Pipeline.Name + "." + h.Kind }

// Group returns the half's consumer group.
func (h Half) Group() string { return h.Pipeline.config.Kafka.Group + "." + h.Name() }

// Halves returns the pipeline's halves, rows before documents.
func (p *Pipeline) Halves() (halves []Half) {
	if len(p.Rows) > 0 {
		halves = append(halves, Half{p, "rows"})
	}
	if len(p.Documents) > 0 {
		halves = append(halves, Half{p, "documents"})
	}
	return halves
}

// WhereIs returns the place of an expression of the pipeline by its setting, such as pipelines.scans.when, or the zero Place if there is no
// such expression.
func (p *Pipeline) WhereIs(setting string) (at Place) {
	if i := slices.IndexFunc(p.where, func(at Place) bool { return at.Setting == setting }); i >= 0 {
		at = p.where[i]
	}
	return at
}

// Halves returns the halves of all pipelines.
func (c *Config) Halves() (halves []Half) {
	for _, p := range c.Pipelines {
		halves = append(halves, p.Halves()...)
	}
	return halves
}

// RowsGroup returns the consumer group of the loop that writes the pipeline's rows.
func (p *Pipeline) RowsGroup() string { return Half{p, "rows"}.Group() }

// DocumentsGroup returns the consumer group of the loop that writes the pipeline's documents.
func (p *Pipeline) DocumentsGroup() string { return Half{p, "documents"}.Group() }

// PipelineOf parses the name of a consumer group as returned by Half.Group.
func (k *Kafka) PipelineOf(group string) (name, half string, ok bool) {
	rest, ok := strings.CutPrefix(group, k.Group+".")
	at := strings.LastIndexByte(rest, '.')
	if !ok || at < 1 || rest[at:] != ".rows" && rest[at:] != ".documents" {
		return "", "", false
	}
	return rest[:at], rest[at+1:], true
}

// Ingest returns the options of one of the pipeline's loops, which group selects: RowsGroup, DocumentsGroup or a replay's own group. Each
// call creates a budget with the loop's share of memory. The caller adds Writer, Hooks and Logger.
func (c *Config) Ingest(p *Pipeline, group string) ingest.Options {
	k := &c.Kafka
	return ingest.Options{
		Kafka: k.Options(), Topic: p.Topic, Topics: p.readTopics(), Group: group, Schema: p.Schema(), Budget: ingest.NewBudget(c.share()),
		Start: position(k.Start), OutOfRange: outOfRange[k.OutOfRange],
		InstanceID: k.InstanceID, GroupProtocol: ingest.GroupProtocol(k.GroupProtocol),
		SessionTimeout: k.SessionTimeout, RebalanceTimeout: k.RebalanceTimeout, CommitInterval: k.CommitInterval,
		RequestTimeout: k.RequestTimeout, StopTimeout: k.StopTimeout, MaxFetchBytes: int64(k.MaxFetchBytes),
		MaxBatchRecords: p.Read.MaxBatchRecords, MaxBatchBytes: int64(p.Read.MaxBatchBytes), Window: p.Read.Window,
		RecordsPerSecond: float64(p.Read.Rate), RetryMax: p.Read.MaxPause, HaltPause: p.Read.HaltPause, HaltAfterRejects: p.HaltAfterRejects,
		DeadLetterTopic: p.DeadLetterTopic(), Conditions: p.conditions(group),
	}
}

// conditions returns the conditions of the rows or documents that a group writes.
func (p *Pipeline) conditions(group string) []event.Condition {
	if len(p.asked) == 0 {
		return nil
	}
	if group == p.DocumentsGroup() {
		o := p.Indexer()
		return o.Conditions()
	}
	o := p.Sink()
	return o.Conditions()
}

var outOfRange = map[string]ingest.Policy{"stop": ingest.StopAndSay, "earliest": ingest.FromEarliest, "latest": ingest.FromLatest}

// position returns the position for start, which is one of these names or a valid time.
func position(start string) ingest.Position {
	switch start {
	case "earliest":
		return ingest.Earliest
	case "latest":
		return ingest.Latest
	}
	t, _ := startTime(start)
	return ingest.At(t)
}

func startTime(s string) (time.Time, error) { return time.Parse(time.RFC3339, s) }

// Indexer returns the options of the pipeline's documents half. The caller adds the hooks.
func (p *Pipeline) Indexer() indexer.Options {
	s := &p.config.Search
	out := indexer.Options{
		Schema: p.Schema(), Calls: s.Calls, MaxBulkDocuments: s.MaxBulkDocuments, MaxBulkBytes: int(s.MaxBulkBytes),
		MaxDocumentBytes: int(s.MaxDocumentBytes), MaxBufferedBytes: p.config.share(),
		MaxRecentBytes: int(min(24<<20, p.config.share()*3/4)), CallTimeout: s.CallTimeout, RetryFor: s.RetryFor, Pause: s.Pause,
		MaxPause: s.MaxPause, ProbeEvery: s.Probe,
	}
	for i, d := range p.Documents {
		x := p.config.Index(d.Index)
		doc := indexer.Document{Index: d.Index, Key: p.config.Table(cmp.Or(d.Table, p.Rows[0].Table)).rowKeys.First(),
			Changes: indexer.Changes(p.Changes), Deleted: d.deleted(p), Purge: x.PurgeDeletesAfter,
			Every: indexer.Every(x.Every), Keep: p.config.Table(cmp.Or(d.Table, p.Rows[0].Table)).keep()}
		if _, embedded := s.Embedded(); !embedded {
			doc.Routing = x.Routing
		}
		if r := p.rowsOf(cmp.Or(d.Table, p.Rows[0].Table)); r != nil {
			doc.Nulls = p.Changes == changesPartial && sink.NullPolicy(r.Nulls) == sink.NullsStore
		}
		if d.When != "" {
			doc.When, doc.Hides = p.documentSetting(i)+".when", d.Otherwise == otherwiseDelete
		}
		for _, f := range d.Set {
			if f.Name == x.Time {
				doc.Time = f.Field
			}
			doc.Set = append(doc.Set, indexer.Column{Name: f.Name, Field: f.Field, Type: indexer.Type(x.field(f.Name).Type)})
		}
		out.Documents = append(out.Documents, doc)
	}
	return out
}

// Terms returns what the pipeline expects of a publisher.
func (p *Pipeline) Terms() (*contract.Terms, error) {
	out := &contract.Terms{Pipeline: p.Name, Topic: p.TopicText(), Topics: p.Named(), Format: p.Format, Schema: p.Schema(), Needs: p.needs(),
		Columns: p.CSV.Columns, Between: p.CSV.Separator, KeyFormat: p.KeyFormat}
	if e := out.Schema.Envelope; e != nil && e.Form == event.CanalProtobuf {
		out.Format = contract.Protobuf // its messages are described by no setting
	}
	for e, into := range map[*encoding]*string{&p.values: &out.Framing, &p.keys: &out.KeyFraming} {
		switch {
		case e.registered():
			*into = p.config.Schemas.Framing
		case e.framed():
			*into = e.framing
		}
	}
	k := &p.config.Kafka
	for _, address := range k.Brokers {
		s := contract.Server{Address: address, Encrypted: k.TLS.Enabled}
		if k.SASL.Mechanism != "none" {
			s.Mechanism = k.SASL.Mechanism
		}
		out.Servers = append(out.Servers, s)
	}
	for e, into := range map[*encoding]*[]byte{&p.values: &out.Text, &p.keys: &out.KeyText} {
		if e.path == "" {
			continue
		}
		text, err := os.ReadFile(e.path)
		if err != nil {
			return nil, err
		}
		*into = text
	}
	return out, nil
}

// needs returns the fields without which every event of the pipeline is rejected.
func (p *Pipeline) needs() (out []contract.Need) {
	at, n := p.versionFields()
	of := []string{at, n}
	if place := p.position(); place != nil {
		of = []string{place.LSN, place.File, place.Pos, place.Source}
	}
	for _, name := range of {
		if name != "" {
			out = append(out, contract.Need{Field: name, Why: "orders the changes of one row"})
		}
	}
	var found []lookup.Field
	if p.KeyFrom.table != nil {
		found = p.lookedUp()
	}
	key := func(r *Rows, table string) {
		t := p.config.Table(table)
		if t == nil || len(t.rowKeys) == 0 || r != nil && r.When != "" {
			return
		}
		for _, name := range t.rowKeys.Fields() {
			field := name
			if r != nil {
				field = r.eventField(name)
			}
			looked := slices.ContainsFunc(found, func(f lookup.Field) bool { return f.Name == field })
			need := contract.Need{Field: field, Why: "part of the key of table " + table}
			if field != "" && !looked && !slices.Contains(out, need) {
				out = append(out, need)
			}
		}
	}
	for i := range p.Rows {
		key(&p.Rows[i], p.Rows[i].Table)
	}
	if p.KeyFrom.table != nil {
		key(nil, p.KeyFrom.Table)
	}
	for i := range p.Documents {
		if d := &p.Documents[i]; d.When == "" && d.Table != "" && p.rowsOf(d.Table) == nil {
			key(nil, d.Table)
		}
	}
	return out
}

// Brokers returns a configuration of only the section kafka, taken from the environment, for commands that need nothing else. Its only
// pipelines are those that Found adds.
func Brokers(env func(string) (string, bool)) (*Config, Problems) {
	l := newLoader("", env)
	root := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	l.overlay(root)
	cfg := new(Config)
	l.object(nil, reflect.ValueOf(cfg).Elem(), "")
	l.object(l.section(root, "kafka"), reflect.ValueOf(&cfg.Kafka).Elem(), "kafka")
	l.checkKafka(&cfg.Kafka)
	return l.done(cfg)
}

// RegistryAt returns the options for the schema registry at a URL. What the arguments lack comes from the environment, as for a registry in
// a file: BRINE_REGISTRY_PASSWORD or BRINE_REGISTRY_TOKEN.
func RegistryAt(url, user string, env func(string) (string, bool)) (*registry.Options, Problems) {
	l := newLoader("", func(name string) (string, bool) {
		switch {
		case name == envName("registry.url"):
			return url, true
		case name == envName("registry.user") && user != "":
			return user, true
		}
		return env(name)
	})
	root := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	l.overlay(root)
	cfg := new(Config)
	l.object(nil, reflect.ValueOf(cfg).Elem(), "")
	l.object(l.section(root, "registry"), reflect.ValueOf(&cfg.Schemas).Elem(), "registry")
	l.checkRegistry(&cfg.Schemas)
	cfg, problems := l.done(cfg)
	if cfg == nil {
		return nil, problems
	}
	o, _ := cfg.Registry()
	return &o, problems
}

// Found adds a half (rows or documents) of a pipeline that is known from what brokers store of it. For a topic alone it adds neither half.
func (c *Config) Found(name, topic, half string) *Pipeline {
	i := slices.IndexFunc(c.Pipelines, func(p *Pipeline) bool { return p.Name == name && p.Topic == topic })
	if i < 0 {
		i, c.Pipelines = len(c.Pipelines), append(c.Pipelines, &Pipeline{Name: name, Topic: topic, config: c})
	}
	p := c.Pipelines[i]
	switch half {
	case "rows":
		p.Rows = []Rows{{}}
	case "documents":
		p.Documents = []Documents{{}}
	}
	return p
}

// Forecast returns a target for each table of each pipeline, or of the named pipelines only.
func (c *Config) Forecast(pipelines ...string) ([]forecast.Target, error) {
	var out []forecast.Target
	for _, p := range c.Pipelines {
		if len(pipelines) > 0 && !slices.Contains(pipelines, p.Name) {
			continue
		}
		seen := map[string]bool{}
		for _, r := range p.Rows {
			if seen[r.Table] {
				continue
			}
			seen[r.Table] = true
			target, err := p.forecast(c.Table(r.Table))
			if err != nil {
				return nil, err
			}
			out = append(out, target)
		}
	}
	return out, nil
}

func (p *Pipeline) forecast(t *Table) (forecast.Target, error) {
	splits, err := t.SplitPoints()
	if err != nil {
		return forecast.Target{}, fmt.Errorf("table %s: %w", t.Name, err)
	}
	out := forecast.Target{
		Pipeline: p.Name, Schema: p.Schema(), Rows: p.Sink(), TTL: map[string]time.Duration{},
		Table: plan.Table{Name: t.Name, Key: t.RowKeys().Newest(), EventRows: t.Row == "event", Splits: splits},
	}
	out.Table.TieFix = out.Schema.TieFix()
	if p.config.Mask().MasksKey(t.Name) {
		out.Table.Masked = mask.Text
	}
	if lookup, ok := p.Lookup(); ok {
		for _, f := range lookup.Fields {
			out.Lookup = append(out.Lookup, f.Name)
		}
	}
	for _, f := range t.Families {
		out.Table.Families = append(out.Table.Families, plan.Family{Name: f.Name, Codec: f.Compression, BlockSize: int(f.BlockSize)})
		if f.TTL > 0 {
			out.TTL[f.Name] = f.TTL
		}
	}
	return out, nil
}

package contract_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"brine/config"
	"brine/contract"
	"brine/event"
	"brine/event/avro"
	"brine/event/protobuf"
	"brine/internal/sample"
	"brine/sink"
)

const now = 1_700_000_000_000

// load returns the only pipeline of a configuration, or the one with a name.
func load(t *testing.T, file, name string) *config.Pipeline {
	t.Helper()
	cfg, problems := config.Load(file, func(string) (string, bool) { return "", false })
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	t.Cleanup(cfg.Close)
	if name == "" {
		return cfg.Pipelines[0]
	}
	return cfg.Pipeline(name)
}

// declared returns the pipeline p of a configuration with these settings.
func declared(t *testing.T, key, settings string) *config.Pipeline {
	t.Helper()
	file := filepath.Join(t.TempDir(), "brine.yaml")
	text := fmt.Sprintf(`
kafka: { brokers: ["kafka1:9093"], tls: { enabled: true }, sasl: { mechanism: scram-sha-256, user: me, password: very-secret } }
hbase: { connect: "rpc://localhost:16000" }
tables: { t: { row: entity, key: %q, families: { e: {} } } }
pipelines:
  p:
    topic: t
%s`, key, settings)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return load(t, file, "p")
}

func document(t *testing.T, p *config.Pipeline, l contract.Language) []byte {
	t.Helper()
	terms, err := p.Terms()
	if err != nil {
		t.Fatal(err)
	}
	text, err := terms.In(l)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func compile(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", parsed); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return s
}

func valid(t *testing.T, s *jsonschema.Schema, value []byte) error {
	t.Helper()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		t.Fatalf("%s: %v", value, err)
	}
	return s.Validate(parsed)
}

// TestSamplesFit checks that the bundled samples fit what the examples require of publishers.
func TestSamplesFit(t *testing.T) {
	for _, c := range []struct {
		file, pipeline string
		values         iter.Seq[[]byte]
	}{
		{"scans", "scans", sample.Scans()}, {"scans-packed", "", sample.Scans()}, {"dev", "scans", sample.Scans()},
		{"orders", "orders", sample.Orders(200)}, {"dev", "orders", sample.Orders(200)},
	} {
		p := load(t, "../examples/"+c.file+".yaml", c.pipeline)
		s, n := compile(t, document(t, p, "")), 0
		for value := range c.values {
			if err := valid(t, s, value); err != nil {
				t.Fatalf("%s: %s: %v", c.file, value, err)
			}
			if n++; n == 2000 {
				break
			}
		}
		if n < 100 {
			t.Fatalf("%s: a sample of %d", c.file, n)
		}
	}
}

// verdict returns the reason why brine rejects a record, or an empty string if it takes the record.
func verdict(t *testing.T, p *config.Pipeline, rec event.Record) event.Reason {
	t.Helper()
	batch := &event.Batch{}
	var wrong *event.Error
	if err := event.NewDecoder(p.Schema()).Decode(&rec, batch); errors.As(err, &wrong) {
		return wrong.Reason
	}
	preview, err := sink.NewPreview(p.Sink())
	if err != nil {
		t.Fatal(err)
	}
	for i := range batch.Events {
		if batch.Events[i].LeftOut != "" {
			continue
		}
		if err := preview.Rows(&batch.Events[i], func(string, []byte, func() []sink.Cell) {}); errors.As(err, &wrong) {
			return wrong.Reason
		}
	}
	return ""
}

const flat = `
    fields:
      id: text
      at: time_ms
      n: int
      s: { type: int, from: text }
      f: float
      b: bool
      city: { type: text, path: to.city }
      zip: { type: int, path: to.zip }
      made: { type: time, format: "%Y-%m-%d %H:%M:%S", zone: Asia/Shanghai }
      seen: time
      us: { type: time, format: epoch_us }
      sku: { type: text, path: lines.0.sku }
      any: json
      num: { type: text, from: number }
      state: { type: text, enum: { "1": created, paid: paid } }
      kind: { type: text, default: parcel }
    version: at
    rows: [ { table: t, set: { "e:n": n } } ]
`

// TestWhatIsRejectedDoesNotFit checks that a record that brine rejects for a missing field or a wrong type does not fit the schema, and
// that the records called good fit and are taken.
func TestWhatIsRejectedDoesNotFit(t *testing.T) {
	good := `{"id":"a","at":1700000000000}`
	p := declared(t, "id", flat)
	s := compile(t, document(t, p, ""))
	for _, record := range []string{
		good, `{"id":"a","at":0,"other":{"x":[1]}}`,
		`{"id":"a","at":1,"n":-5,"s":"7","f":1.5e3,"b":true,"to":{"city":"Oslo","zip":null},"made":"2024-02-29 23:59:59.123","seen":"2024-01-01T00:00:00+08:00"}`,
		`{"id":"a","at":1,"n":null,"s":7,"to":null,"us":1700000000000000,"lines":[{"sku":"x"},{"sku":1}],"any":[{}],"num":1.50,"state":1}`,
		`{"id":"a","at":1,"lines":[],"us":"170","num":"x","state":"paid","kind":null}`, `{"id":"a","at":1,"lines":{"0":{"sku":"x"}},"lines2":1}`,
	} {
		if why := verdict(t, p, event.Record{Value: []byte(record), Timestamp: now}); why != "" {
			t.Errorf("%s: rejected as %s", record, why)
		}
		if err := valid(t, s, []byte(record)); err != nil {
			t.Errorf("%s: %v", record, err)
		}
	}
	for _, record := range []string{
		`{}`, `{"id":"a"}`, `{"at":1}`, `{"id":null,"at":1}`, `{"id":"a","at":null}`, `{"id":7,"at":1}`, `{"id":"a","at":"1"}`, `{"id":"a","at":1.5}`,
		`{"id":"a","at":-1}`, `{"id":"a","at":1,"n":"5"}`, `{"id":"a","at":1,"n":9223372036854775808}`, `{"id":"a","at":1,"n":true}`,
		`{"id":"a","at":1,"s":"x"}`, `{"id":"a","at":1,"s":"1.5"}`, `{"id":"a","at":1,"f":"1"}`, `{"id":"a","at":1,"f":1e400}`,
		`{"id":"a","at":1,"b":1}`, `{"id":"a","at":1,"b":"true"}`, `{"id":"a","at":1,"to":"Oslo"}`, `{"id":"a","at":1,"to":["Oslo"]}`,
		`{"id":"a","at":1,"to":{"city":5}}`, `{"id":"a","at":1,"to":{"zip":"5"}}`, `{"id":"a","at":1,"made":"2024-13-01 00:00:00"}`,
		`{"id":"a","at":1,"made":"yesterday"}`, `{"id":"a","at":1,"made":true}`, `{"id":"a","at":1,"seen":"2024-01-01"}`,
		`{"id":"a","at":1,"us":"soon"}`, `{"id":"a","at":1,"us":[]}`, `{"id":"a","at":1,"lines":5}`, `{"id":"a","at":1,"lines":[5]}`,
		`{"id":"a","at":1,"lines":[{"sku":5}]}`, `{"id":"a","at":1,"num":true}`, `{"id":"a","at":1,"state":"lost"}`, `{"id":"a","at":1,"state":2}`,
		`{"id":"a","at":1,"kind":3}`, `[]`, `5`,
	} {
		rejected(t, p, s, record)
	}
}

// rejected checks that a record is rejected and does not fit.
func rejected(t *testing.T, p *config.Pipeline, s *jsonschema.Schema, record string) {
	t.Helper()
	if why := verdict(t, p, event.Record{Value: []byte(record), Timestamp: now}); why == "" {
		t.Errorf("%s is taken", record)
	}
	if valid(t, s, []byte(record)) == nil {
		t.Errorf("%s fits", record)
	}
}

// TestFormsOfRecords tests arrays, envelopes, images, keys and headers.
func TestFormsOfRecords(t *testing.T) {
	const debezium = `
    envelope: { form: debezium, ties: accept }
    images: { deleted: gone }
    fields: { id: int, name: text, gone: bool, at: { type: time_ms, path: $source.ts_ms } }
    version: at
    rows: [ { table: t, set: { "e:n": name, "e:d": gone } } ]
`
	for name, c := range map[string]struct {
		key, settings string
		good, bad     []string
	}{
		"array": {"id", "    format: json_array\n    fields: { id: text, at: time_ms }\n    version: at\n    rows: [ { table: t, set: { \"e:a\": at } } ]\n",
			[]string{`[]`, `[{"id":"a","at":1},{"id":"b","at":2,"x":1}]`}, []string{`{"id":"a","at":1}`, `[{"id":"a"}]`, `[5]`}},
		"debezium": {"asc(id)", debezium, []string{
			`{"op":"c","after":{"id":1,"name":"x"},"source":{"ts_ms":5}}`,
			`{"op":"u","before":{"id":1,"name":"y"},"after":{"id":1,"name":null},"source":{"ts_ms":5,"db":"shop"}}`,
			`{"op":"d","before":{"id":1,"name":"x"},"after":null,"source":{"ts_ms":5}}`,
			`{"schema":{"type":"struct"},"payload":{"op":"c","after":{"id":1,"name":"x"},"source":{"ts_ms":5}}}`,
		}, []string{
			`{"op":"c","after":{"name":"x"},"source":{"ts_ms":5}}`, `{"op":"c","after":{"id":"1"},"source":{"ts_ms":5}}`,
			`{"op":"c","after":{"id":1,"name":"x"},"source":{}}`, `{"op":"x","after":{"id":1},"source":{"ts_ms":5}}`,
			`{"op":"d","after":null,"source":{"ts_ms":5}}`, `{"id":1,"name":"x"}`,
		}},
		"canal": {"asc(id)", `
    envelope: { form: canal, ties: accept }
    images: { deleted: gone }
    fields: { id: int, name: text, gone: bool, es: { type: time_ms, path: $es } }
    version: es
    rows: [ { table: t, set: { "e:n": name, "e:d": gone } } ]
`, []string{`{"type":"INSERT","es":1700000000000,"data":[{"id":"1","name":"x"},{"id":"2","name":null}],"old":null}`},
			[]string{`{"type":"INSERT","es":1700000000000,"data":[{"name":"x"}]}`, `{"type":"INSERT","es":1700000000000,"data":[{"id":"x"}]}`,
				`{"type":"INSERT","data":[{"id":"1"}]}`}},
		"maxwell": {"asc(id)", `
    envelope: { form: maxwell, ties: accept }
    images: { deleted: gone }
    fields: { id: int, name: text, gone: bool, at: { type: time_s, path: $ts } }
    version: at
    rows: [ { table: t, set: { "e:n": name, "e:d": gone } } ]
`, []string{`{"type":"insert","ts":1700000000,"data":{"id":1,"name":"x"}}`, `{"type":"update","ts":1700000000,"data":{"id":1,"name":"x"},"old":{"name":"y"}}`},
			[]string{`{"type":"insert","ts":1700000000,"data":{"name":"x"}}`, `{"type":"insert","data":{"id":1}}`, `{"ts":1,"data":{"id":1}}`}},
		"maxwell by positions": {"asc(id)", `
    envelope: maxwell
    images: { deleted: gone }
    fields: { id: int, name: text, gone: bool, position: { type: text, path: $position } }
    version: binlog(position)
    rows: [ { table: t, set: { "e:n": name, "e:d": gone } } ]
`, []string{`{"type":"insert","position":"bin.000001:4","data":{"id":1,"name":"x"}}`, `{"type":"bootstrap-insert","data":{"id":1,"name":"x"}}`},
			[]string{`{"type":"insert","ts":1700000000,"data":{"id":1,"name":"x"}}`, `{"type":"bootstrap-insert","data":{"name":"x"}}`}},
		"images": {"id", `
    images: { before: was, after: is, deleted: gone }
    fields: { id: { type: text, path: is.id }, n: { type: int, path: is.n }, gone: bool, at: time_ms }
    version: at
    rows: [ { table: t, set: { "e:n": n, "e:d": gone } } ]
`, []string{`{"is":{"id":"a","n":1},"at":5}`, `{"was":{"n":2},"is":{"id":"a","n":1},"at":5}`, `{"was":{"id":"a"},"is":null,"at":5}`, `{"was":{"id":"a"},"at":5}`},
			[]string{`{"is":{"n":1},"at":5}`, `{"is":{"id":"a"}}`, `{"was":{"n":1},"at":5}`, `{"at":5}`}},
	} {
		t.Run(name, func(t *testing.T) {
			p := declared(t, c.key, c.settings)
			s := compile(t, document(t, p, ""))
			for _, record := range c.good {
				if why := verdict(t, p, event.Record{Value: []byte(record), Timestamp: now}); why != "" {
					t.Errorf("%s: rejected as %s", record, why)
				}
				if err := valid(t, s, []byte(record)); err != nil {
					t.Errorf("%s: %v", record, err)
				}
			}
			for _, record := range c.bad {
				rejected(t, p, s, record)
			}
		})
	}
}

const beside = `
    key_format: json
    fields:
      id: { type: text, path: $key.id }
      shop: { type: int, path: $header.shop }
      topic: { type: text, path: $topic }
      at: { type: time_ms, path: $timestamp }
      note: text
    rows: [ { table: t, set: { "e:n": note, "e:t": topic, "e:a": at } } ]
`

// TestKeysAndHeaders checks that what is outside the value is described separately.
func TestKeysAndHeaders(t *testing.T) {
	var got struct {
		Defs struct{ Key, Headers json.RawMessage } `json:"$defs"`
	}
	if err := json.Unmarshal(document(t, declared(t, `id + "|" + asc(shop)`, beside), ""), &got); err != nil {
		t.Fatal(err)
	}
	key, headers := compile(t, got.Defs.Key), compile(t, got.Defs.Headers)
	for _, c := range []struct {
		s     *jsonschema.Schema
		value string
		fits  bool
	}{
		{key, `{"id":"a","more":1}`, true}, {key, `{}`, false}, {key, `{"id":5}`, false}, {key, `"a"`, false},
		{headers, `{"shop":"7"}`, true}, {headers, `{"shop":"x"}`, false}, {headers, `{}`, false},
	} {
		if err := valid(t, c.s, []byte(c.value)); (err == nil) != c.fits {
			t.Errorf("%s: %v", c.value, err)
		}
	}
}

const compacted = `
    %s
    key_format: json
    deletes: tombstone
    images: { deleted: gone }
    fields: { id: { type: text, path: $key.id }, name: text, gone: bool }
    rows: [ { table: t, set: { "e:n": name, "e:d": gone } } ]
registry: { url: "http://localhost:8081" }
`

// TestTombstones checks that a record without a value is described where it is a delete, and only there.
func TestTombstones(t *testing.T) {
	p := declared(t, "id", fmt.Sprintf(compacted, "format: json"))
	if why := verdict(t, p, event.Record{Key: []byte(`{"id":"a"}`), Timestamp: now}); why != "" {
		t.Fatalf("rejected as %s", why)
	}
	text := document(t, p, "")
	s := compile(t, text)
	for value, fits := range map[string]bool{`null`: true, `{"name":"x"}`: true, `{}`: true, `5`: false, `{"name":5}`: false} {
		if err := valid(t, s, []byte(value)); (err == nil) != fits {
			t.Errorf("%s: %v", value, err)
		}
	}
	if !bytes.Contains(text, []byte("A record without a value")) {
		t.Errorf("it does not say what a record without a value is:\n%s", text)
	}
	without := declared(t, "id", strings.Replace(fmt.Sprintf(compacted, ""), "deletes: tombstone\n    images: { deleted: gone }", "", 1))
	if err := valid(t, compile(t, document(t, without, "")), []byte("null")); err == nil {
		t.Error("null fits although it is a dead letter")
	}
	for _, format := range []string{"json", "avro", "protobuf"} {
		var root struct {
			Channels   map[string]struct{ Messages map[string]any }
			Operations map[string]struct{ Messages []any }
			Components struct {
				Messages map[string]struct {
					Summary  string
					Payload  struct{ Schema json.RawMessage }
					Bindings struct{ Kafka struct{ Key map[string]any } }
				}
			}
		}
		var all map[string]any
		text := document(t, declared(t, "id", fmt.Sprintf(compacted, "format: "+format)), contract.AsyncAPILanguage)
		if err := errors.Join(json.Unmarshal(text, &root), json.Unmarshal(text, &all)); err != nil {
			t.Fatal(err)
		}
		follow(t, all, all)
		end := root.Components.Messages["p_tombstone"]
		var payload any
		if err := json.Unmarshal(end.Payload.Schema, &payload); err != nil {
			t.Fatalf("%s: no message without a payload in\n%s", format, text)
		}
		if fmt.Sprint(payload) != "map[type:null]" || end.Bindings.Kafka.Key["required"] == nil ||
			len(root.Channels["p"].Messages) != 2 || len(root.Operations["receive_p"].Messages) != 2 {
			t.Errorf("%s: a tombstone is not described in\n%s", format, text)
		}
	}
}

// keysIn returns the pipeline of compacted with keys in a format, and with this path, type and further fields in place of $key.id.
func keysIn(t *testing.T, values, keys, field string) *config.Pipeline {
	t.Helper()
	return declared(t, "id", strings.NewReplacer("key_format: json", "key_format: "+keys, "{ type: text, path: $key.id }", field).Replace(
		fmt.Sprintf(compacted, "format: "+values)))
}

// keyOf returns the description of a pipeline's keys.
func keyOf(t *testing.T, p *config.Pipeline) (string, error) {
	t.Helper()
	terms, err := p.Terms()
	if err != nil {
		t.Fatal(err)
	}
	text, err := terms.Key()
	return string(text), err
}

// TestKeysInTheirOwnFormat checks that keys are described in their own format, whatever that of the values is, and that brine takes keys
// that are as described.
func TestKeysInTheirOwnFormat(t *testing.T) {
	const (
		idField = "{ type: text, path: $key.id }"
		nested  = "{ type: text, path: $key.of.id }, n: { type: int, path: $key.n }"
		record  = `{"type":"record","name":"PKey","fields":[{"name":"id","doc":"part of the key of table t","type":"string"}]}`
		deeper  = `{"type":"record","name":"PKey","fields":[{"name":"of","type":{"type":"record","name":"PKeyOf","fields":` +
			`[{"name":"id","doc":"part of the key of table t","type":"string"}]}},{"name":"n","type":["null","long"],"default":null}]}`
		message = "message PKey {\n  // part of the key of table t\n  string id = 1;\n}\n"
		within  = "message PKey {\n  message Of {\n    // part of the key of table t\n    string id = 1;\n  }\n  Of of = 1;\n  optional int64 n = 2;\n}\n"
	)
	for _, values := range []string{"json", "avro", "protobuf"} {
		for _, c := range []struct{ keys, field, want string }{
			{"avro", idField, record}, {"avro", nested, deeper}, {"avro", "{ type: text, path: $key }", `"string"`},
			{"protobuf", idField, message}, {"protobuf", nested, within},
			{"json", idField, `"properties":{"id":{"description":"part of the key of table t","type":"string"}},"required":["id"]}`},
		} {
			p := keysIn(t, values, c.keys, c.field)
			text, err := keyOf(t, p)
			if err != nil {
				t.Fatal(err)
			}
			var short bytes.Buffer
			if json.Compact(&short, []byte(text)) != nil {
				short.WriteString(text)
			}
			if !strings.HasSuffix(short.String(), c.want) {
				t.Errorf("%s keys of %s: %s, want %s", c.keys, values, text, c.want)
			}
			var fits func(event.Field) (bool, error)
			switch c.keys {
			case "avro":
				s, err := avro.Parse(text)
				if err != nil {
					t.Fatal(err)
				}
				fits = s.Fits
			case "protobuf":
				s, err := protobuf.CompileText("key.proto", text, nil)
				if err != nil {
					t.Fatalf("%v in\n%s", err, text)
				}
				fits = func(f event.Field) (bool, error) { return s.Message("PKey").Check([]event.Field{f}) == nil, nil }
			}
			for _, f := range p.Schema().Fields {
				if f.OfKey() && fits != nil {
					if there, err := fits(f); err != nil || !there {
						t.Errorf("%s keys: %s: %v, %v in\n%s", c.keys, f.Name, there, err, text)
					}
				}
			}
		}
	}
}

// TestEncodedKeysBesideValues checks that a document of the whole record includes the schema of encoded keys, and how they are framed.
func TestEncodedKeysBesideValues(t *testing.T) {
	for keys, want := range map[string]string{
		"avro":     `In avro, as this schema describes it: {"type":"record","name":"PKey",`,
		"protobuf": "In protobuf, as this schema describes it: // Keys of the records that pipeline p of brine accepts from topic t. ",
	} {
		p := keysIn(t, "json", keys, "{ type: text, path: $key.id }")
		text := document(t, p, "")
		compile(t, text)
		var got struct {
			Description string
			Defs        struct {
				Key struct{ Description, Type string }
			} `json:"$defs"`
		}
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if key := got.Defs.Key; !strings.HasPrefix(key.Description, want) || key.Type != "" ||
			!strings.Contains(got.Description, "Each key is in "+keys+", preceded by the id of its schema, as confluent writes it.") {
			t.Errorf("the key is %+v of %s", got.Defs.Key, got.Description)
		}
		async := string(document(t, p, contract.AsyncAPILanguage))
		wants := map[string]string{"avro": `"name": "PKey",`, "protobuf": `In protobuf, as this schema describes it: // Keys`}
		if !strings.Contains(async, wants[keys]) || strings.Contains(async, `"required": [`) {
			t.Errorf("AsyncAPI lacks %s in\n%s", wants[keys], async)
		}
	}
	strange := keysIn(t, "json", "avro", "{ type: text, path: $key.a-b }")
	if _, err := keyOf(t, strange); !errors.Is(err, contract.ErrFormat) || !strings.Contains(err.Error(), `"a-b" is not a valid field name in Avro`) {
		t.Error(err)
	}
	if text := string(document(t, strange, "")); !strings.Contains(text, `"description": "In avro",`) {
		t.Errorf("a key that no schema can be made of:\n%s", text)
	}
}

// TestKeysByTheirFile checks that a file with the keys' schema describes them, also if it is the values' file, and that pipelines whose
// records' keys are not read have no description of them.
func TestKeysByTheirFile(t *testing.T) {
	const schema = `{ "type": "record", "name": "K", "fields": [ { "name": "id", "type": "string" }, { "name": "name", "type": "string" } ] }`
	file := filepath.Join(t.TempDir(), "k.avsc")
	if err := os.WriteFile(file, []byte(schema), 0o600); err != nil {
		t.Fatal(err)
	}
	of := "avro\n    schema: " + file + "\n    key_schema: " + file
	p := keysIn(t, of, "avro", "{ type: text, path: $key.id }")
	if text, err := keyOf(t, p); err != nil || text != schema {
		t.Errorf("%v, %s", err, text)
	}
	if text := string(document(t, p, "")); text != schema {
		t.Errorf("the values are described by %s", text)
	}
	if async := string(document(t, p, contract.AsyncAPILanguage)); strings.Count(async, `"name": "K"`) != 3 {
		t.Errorf("AsyncAPI does not include the file for values and twice for keys:\n%s", async)
	}
	if _, err := keyOf(t, declared(t, "id", flat)); !errors.Is(err, contract.ErrFormat) || !strings.Contains(err.Error(), "no field of pipeline p is in its records' keys") {
		t.Error(err)
	}
}

// TestAsyncAPI checks that every reference resolves, that nothing secret is in it, and that the payload is the schema.
func TestAsyncAPI(t *testing.T) {
	text := document(t, declared(t, `id + "|" + asc(shop)`, beside), contract.AsyncAPILanguage)
	for _, secret := range []string{"very-secret", `"me"`} {
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("it has %s", secret)
		}
	}
	var root map[string]any
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	if n := follow(t, root, root); n < 4 {
		t.Errorf("%d references", n)
	}
	at := func(path ...string) any {
		var v any = root
		for _, key := range path {
			v = v.(map[string]any)[key]
		}
		return v
	}
	for want, got := range map[any]any{"3.0.0": at("asyncapi"), "t": at("channels", "p", "address"), "receive": at("operations", "receive_p", "action"),
		"kafka1:9093": at("servers", "kafka1", "host"), "kafka-secure": at("servers", "kafka1", "protocol"),
		"scramSha256": at("components", "securitySchemes", "sasl", "type"), "application/json": at("components", "messages", "p", "contentType")} {
		if got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

// TestAsyncAPIOfSeveralTopics checks that each topic has a channel, and that a pattern is not an address.
func TestAsyncAPIOfSeveralTopics(t *testing.T) {
	terms, err := declared(t, `id + "|" + asc(shop)`, beside).Terms()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		topics []string
		want   string
	}{
		{[]string{"t"}, `map[p:t]`},
		{[]string{"a.b", "c"}, `map[a.b:a.b c:c]`},
		{nil, `map[p:<nil>]`},
	} {
		terms.Topics = c.topics
		text, err := terms.AsyncAPI()
		if err != nil {
			t.Fatal(err)
		}
		var root struct {
			Channels map[string]struct {
				Address  any
				Bindings struct{ Kafka struct{ Topic any } }
			}
		}
		var all map[string]any
		if err := errors.Join(json.Unmarshal(text, &root), json.Unmarshal(text, &all)); err != nil {
			t.Fatal(err)
		}
		follow(t, all, all)
		got := map[string]any{}
		for name, channel := range root.Channels {
			if got[name] = channel.Address; channel.Address != channel.Bindings.Kafka.Topic {
				t.Errorf("%v: the address of %s is %v, its topic %v", c.topics, name, channel.Address, channel.Bindings.Kafka.Topic)
			}
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%v: channels %v, want %s", c.topics, got, c.want)
		}
	}
}

// follow resolves all references.
func follow(t *testing.T, root map[string]any, v any) (n int) {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			var to any = root
			for key := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
				within, _ := to.(map[string]any)
				to = within[key]
			}
			if to == nil {
				t.Errorf("%s leads nowhere", ref)
			}
			n++
		}
		for _, m := range v {
			n += follow(t, root, m)
		}
	case []any:
		for _, m := range v {
			n += follow(t, root, m)
		}
	}
	return n
}

const registered = `
    format: %s
    fields:
      id: text
      at: time_ms
      n: int
      f: float
      b: bool
      made: time
      city: { type: text, path: to.city }
      sku: { type: text, path: lines.0.sku }
      first: { type: text, path: tags.1 }
      num: { type: text, from: number }
    version: at
    rows: [ { table: t, set: { "e:n": n } } ]
registry: { url: "http://localhost:8081" }
`

// TestOwnLanguages checks that the result for Avro and Protobuf is a schema that the declared fields fit.
func TestOwnLanguages(t *testing.T) {
	p := declared(t, "id", fmt.Sprintf(registered, "avro"))
	text := document(t, p, "")
	schema, err := avro.Parse(string(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	for _, f := range p.Schema().Fields {
		if there, err := schema.Fits(f); err != nil || !there {
			t.Errorf("%s: %v, %v in\n%s", f.Name, there, err, text)
		}
	}
	p = declared(t, "id", fmt.Sprintf(registered, "protobuf"))
	text = document(t, p, "")
	file := filepath.Join(t.TempDir(), "p.proto")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	compiled, err := protobuf.CompileFile(file)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	fields := slices.DeleteFunc(p.Schema().Fields, func(f event.Field) bool { return f.Name == "num" }) // already a text
	if unfit := compiled.Message("P").Check(fields); len(unfit) > 0 {
		t.Errorf("%+v in\n%s", unfit, text)
	}
}

// TestDecimalOfAvro checks that a decimal whose scale nobody declared keeps its fraction, and that a declared scale is stated.
func TestDecimalOfAvro(t *testing.T) {
	for declaration, want := range map[string]string{
		`decimal`: `[null string]`,
		`{ type: decimal, from: decimal, scale: 2 }`: `[null map[logicalType:decimal precision:38 scale:2 type:bytes]]`,
	} {
		p := declared(t, "id", strings.Replace(fmt.Sprintf(registered, "avro"), "f: float", "f: "+declaration, 1))
		text := document(t, p, "")
		var root struct {
			Fields []struct {
				Name string
				Type any
			}
		}
		if err := json.Unmarshal(text, &root); err != nil {
			t.Fatal(err)
		}
		for _, f := range root.Fields {
			if got := fmt.Sprint(f.Type); f.Name == "f" && got != want {
				t.Errorf("%s: got %s, want %s", declaration, got, want)
			}
		}
		schema, err := avro.Parse(string(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range p.Schema().Fields {
			if there, err := schema.Fits(f); err != nil || !there {
				t.Errorf("%s: %v, %v in\n%s", f.Name, there, err, text)
			}
		}
	}
}

// TestLanguagesThatDoNotFit checks that what a language cannot describe is an error.
func TestLanguagesThatDoNotFit(t *testing.T) {
	flat, avro := declared(t, "id", flat), declared(t, "id", fmt.Sprintf(registered, "avro"))
	for _, c := range []struct {
		p    *config.Pipeline
		l    contract.Language
		want string
	}{
		{flat, contract.AvroLanguage, "records of pipeline p are json, not avro; omit --format"},
		{flat, contract.ProtoLanguage, "records of pipeline p are json, not protobuf; omit --format"},
		{avro, contract.JSONSchemaLanguage, "records of pipeline p are avro, which JSON Schema does not describe"},
	} {
		terms, err := c.p.Terms()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := terms.In(c.l); !errors.Is(err, contract.ErrFormat) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.l, err)
		}
	}
}

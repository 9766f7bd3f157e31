package reload_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brine/config"
	"brine/internal/certs/certstest"
	"brine/service/reload"
)

// TestDigestCoversTheFilesThatGiveMeaning checks that a digest differs once a file has changed that affects keys, versions, cells or filters,
// and is the same after certificates and secrets have been renewed.
func TestDigestCoversTheFilesThatGiveMeaning(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	digest := func() string {
		t.Helper()
		cfg, problems := config.Load(filepath.Join(dir, "brine.yaml"), func(string) (string, bool) { return "", false })
		if problems.Err() != nil {
			t.Fatal(problems)
		}
		return reload.Digest(cfg)
	}
	const avro = `{"type": "record", "name": "A", "fields": [{"name": "id", "type": "string"}, {"name": "n", "type": "long"}]}`
	write("brine.yaml", strings.ReplaceAll(`
kafka: { brokers: [localhost:9092], tls: { enabled: true, ca: DIR/ca.pem }, sasl: { mechanism: plain, user: u, password: "${file:DIR/password}" } }
hbase: { connect: "rpc://localhost:16000" }
tables: { t: { row: entity, key: 'md5(id, 4) + id', families: { e: {} } } }
pipelines:
  p: { topic: p, format: protobuf, schema: p.proto, when: "${file:DIR/filter}", fields: { id: text, n: int }, rows: [ { table: t, set: { "e:n": n } } ] }
  a: { topic: a, format: avro, schema: a.avsc, fields: { id: text, n: int }, rows: [ { table: t, set: { "e:n": n } } ] }
`, "DIR", dir))
	certificate := func() string {
		t.Helper()
		text, err := os.ReadFile(certstest.New(t, "ca").CA)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	write("ca.pem", certificate())
	write("password", "one")
	write("filter", "n > 1")
	write("p.proto", "syntax = \"proto3\";\nimport \"q.proto\";\nmessage P { string id = 1; int64 n = 2; Q q = 3; }\n")
	write("q.proto", "syntax = \"proto3\";\nmessage Q { string a = 1; }\n")
	write("a.avsc", avro)
	was := digest()
	if was == "" || digest() != was {
		t.Errorf("of the same files: %q, then %q", was, digest())
	}
	write("ca.pem", certificate())
	write("password", "two")
	if digest() != was {
		t.Error("another certificate or password has another digest")
	}
	for _, c := range []struct{ file, text string }{
		{"filter", "n > 2"},
		{"p.proto", "syntax = \"proto3\";\nimport \"q.proto\";\nmessage P { int64 n = 1; string id = 2; Q q = 3; }\n"},
		{"q.proto", "syntax = \"proto3\";\nmessage Q { string b = 1; }\n"},
		{"a.avsc", strings.Replace(avro, `"long"}`, `"long", "aliases": ["m"]}`, 1)},
	} {
		write(c.file, c.text)
		now := digest()
		if now == was {
			t.Errorf("another %s has the same digest", c.file)
		}
		was = now
	}
}

// TestNamesOutliveNewSettings holds the names of what halves make of records to constants. If a new setting, which this configuration does
// not have, changes one, verify no longer knows the filters of earlier records after an upgrade.
func TestNamesOutliveNewSettings(t *testing.T) {
	cfg := parsed(t, two)
	var names []string
	for _, h := range cfg.Halves() {
		name := reload.MeaningOf(h)
		names = append(names, name)
		if !reload.Stored(name) || !reload.Means(h, name) || !reload.Means(h, reload.Meaning(h.Pipeline)) || reload.Means(h, "2.0") || reload.Means(h, "") {
			t.Errorf("%s is named %s", h.Name(), name)
		}
	}
	if want := []string{"2.cffd92d7b528fb9b5eb2d6a0", "2.7c224949563c3918401f03ad", "2.b01741569bf9742f5a43bafc"}; !slices.Equal(names, want) {
		t.Errorf("the names are %q, want %q", names, want)
	}
}

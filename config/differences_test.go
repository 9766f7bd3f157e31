package config

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const changing = `
kafka: { brokers: [localhost:9092], group: brine }
hbase: { connect: "rpc://localhost:16000" }
search: { connect: "http://localhost:9200" }
http: { token: "${file:TOKEN}" }
tables:
  scans: { row: event, key: 'md5(id, 4) + id + "|" + desc(at, ms)', families: { e: { ttl: 92d }, f: {} } }
indexes:
  scans: { fields: { id: keyword, n: long } }
pipelines:
  scans:
    topic: scans
    fields: { id: text, at: time_ms, n: int, note: { type: text, trim: true } }
    let: { twice: "n * 2" }
    version: at
    rows:
      - { table: scans, set: { "e:n": n, "e:t": twice } }
    documents:
      - { index: scans, set: { id: id, n: n } }
`

var aToken = regexp.MustCompile(`\{file:[^}]*\}`)

// differences compares changing with the result of replacing texts in it, each old one followed by the new one.
func differences(t *testing.T, replaced ...string) []Difference {
	t.Helper()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("0123456789abcdef"), 0o600); err != nil {
		t.Fatal(err)
	}
	load := func(text string) *Config {
		cfg, problems := Parse("brine.yaml", []byte(strings.ReplaceAll(text, "TOKEN", token)), os.LookupEnv)
		if err := problems.Err(); err != nil {
			t.Fatal(problems)
		}
		return cfg
	}
	old := load(changing)
	if err := os.WriteFile(token, []byte("fedcba9876543210"), 0o600); err != nil {
		t.Fatal(err)
	}
	now := strings.NewReplacer(replaced...).Replace(changing)
	if now == changing && len(replaced) > 0 {
		t.Fatalf("nothing was replaced of %q", replaced)
	}
	return Differences(old, load(now))
}

// A renewed secret in a file is no difference, because it is read at each use.
func TestDifferences(t *testing.T) {
	for name, c := range map[string]struct {
		replaced []string
		want     string
	}{
		"nothing": {nil, ""},
		"a setting of reading": {[]string{"version: at", "version: at\n    read: { window: 3 }"},
			"pipelines.scans.read.window: 8 → 3"},
		"a duration": {[]string{"version: at", "version: at\n    write: { linger: 20ms }"},
			"pipelines.scans.write.linger: 5ms → 20ms"},
		"a filter": {[]string{"version: at", "version: at\n    when: 'n > 3'"}, "pipelines.scans.when:  → n > 3"},
		"a let":    {[]string{"n * 2", "n * 3"}, "pipelines.scans.let.twice.value: n * 2 → n * 3"},
		"what a field is read from": {[]string{"n: int,", "n: { type: int, path: a.b },"},
			"pipelines.scans.fields.n.path:  → a.b"},
		"what a field of the key is read from": {[]string{"{ id: text,", "{ id: { type: text, path: a.b },"},
			"pipelines.scans.fields.id.path:  → a.b [field id is part of the row key of scans]"},
		"a type": {[]string{"note: { type: text, trim: true }", "note: int"},
			"pipelines.scans.fields.note.type: text → int; pipelines.scans.fields.note.trim: true → false"},
		"a key": {[]string{"md5(id, 4)", "md5(id, 6)"},
			`tables.scans.key: md5(id, 4) + id + "|" + desc(at, ms) → md5(id, 6) + id + "|" + desc(at, ms)`},
		"a column more": {[]string{`"e:t": twice`, `"e:t": twice, "f:o": note`},
			"pipelines.scans.rows[0].set.f:o:  → { field: note }"},
		"a column less": {[]string{`"e:n": n, `, ``}, "pipelines.scans.rows[0].set.e:n: { field: n } → "},
		"a column of another name": {[]string{`"e:n": n`, `"f:n": n`},
			"pipelines.scans.rows[0].set.e:n: { field: n } → ; pipelines.scans.rows[0].set.f:n:  → { field: n }"},
		"a family less":     {[]string{", f: {}", ""}, "tables.scans.families.f: {  } → "},
		"a ttl":             {[]string{"92d", "30d"}, "tables.scans.families.e.ttl: 92d → 30d"},
		"regions":           {[]string{"row: event", "row: event, regions: 4"}, "tables.scans.regions: 1 → 4"},
		"the order of maps": {[]string{"id: text, at: time_ms", "at: time_ms, id: text"}, ""},
		"brokers":           {[]string{"[localhost:9092]", "[a:1, b:2]"}, "kafka.brokers: localhost:9092 → a:1, b:2"},
		"a secret":          {[]string{"${file:TOKEN}", "abcdefghijklmnopq"}, "http.token: ${file:FILE} → ***"},
		"stall":             {[]string{"http: {", "http: { stall: 5m,"}, "http.stall: 1m → 5m"},
		"a pipeline more": {[]string{"pipelines:\n", "pipelines:\n  more: { topic: more, fields: { id: text, at: time_ms }, version: at, rows: [ { table: scans, empty: e } ] }\n"},
			"pipelines.more:  → { topic: more, fields: …, version: at, rows: … }"},
	} {
		t.Run(name, func(t *testing.T) {
			var texts []string
			for _, d := range differences(t, c.replaced...) {
				text := d.Setting + ": " + d.Was + " → " + d.Becomes
				if d.Part != "" {
					text += " [" + d.Part + "]"
				}
				texts = append(texts, text)
			}
			if got := aToken.ReplaceAllString(strings.Join(texts, "; "), "{file:FILE}"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// A schema with another content is a difference, although its name is the same. The same holds for its imports.
func TestSchemaFilesAreCompared(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("brine.yaml", `
kafka: { brokers: [localhost:9092] }
hbase: { connect: "rpc://localhost:16000" }
tables: { t: { row: entity, key: 'md5(id, 4) + id', families: { e: {} } } }
pipelines:
  p: { topic: p, format: protobuf, schema: p.proto, key_format: avro, key_schema: k.avsc, fields: { id: text, n: int }, rows: [ { table: t, set: { "e:n": n } } ] }
`)
	write("p.proto", "syntax = \"proto3\";\nimport \"q.proto\";\nmessage P { string id = 1; int64 n = 2; Q q = 3; }\n")
	write("q.proto", "syntax = \"proto3\";\nmessage Q { string a = 1; }\n")
	write("k.avsc", `"string"`)
	load := func() *Config {
		cfg, problems := Load(filepath.Join(dir, "brine.yaml"), os.LookupEnv)
		if err := problems.Err(); err != nil {
			t.Fatal(problems)
		}
		return cfg
	}
	old := load()
	if d := Differences(old, load()); len(d) > 0 {
		t.Errorf("the same files differ: %v", d)
	}
	write("q.proto", "syntax = \"proto3\";\nmessage Q { string a = 1; string b = 2; }\n")
	if d := Differences(old, load()); len(d) != 1 || d[0].Setting != "pipelines.p.schema" {
		t.Errorf("another import is %v", d)
	}
	old = load()
	write("k.avsc", `"long"`)
	if d := Differences(old, load()); len(d) != 1 || d[0].Setting != "pipelines.p.key_schema" {
		t.Errorf("another schema of keys is %v", d)
	}
}

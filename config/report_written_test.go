package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWritten checks that a configuration is shown as it was written, without secrets, wherever they came from.
func TestWritten(t *testing.T) {
	for _, setting := range secretSettings() {
		if strings.ContainsAny(setting, "<[") {
			t.Errorf("%s stands below a name of the user's own: withoutSecrets does not know it", setting)
		}
	}
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("planted-in-a-file"), 0o600); err != nil {
		t.Fatal(err)
	}
	source := `# planted-in-a-comment
kafka:
  brokers: [localhost:9092] # planted-in-a-comment
  sasl: { mechanism: plain, user: "${WHO}", password: "planted-in-the-file" }
hbase: { connect: "rpc://localhost:16000" }
search: { connect: "http://localhost:9200", user: u, password: "${file:` + file + `}" }
tables: { a:b: { row: event, key: 'id + "|" + desc(at, ms)', families: { e: {} } } }
pipelines:
  p: { topic: t, format: json, version: at, fields: { id: text, at: time_ms }, rows: [{ table: "a:b", set: { "e:i": id } }] }
`
	env := map[string]string{"WHO": "planted-in-a-variable", "BRINE_HTTP_TOKEN": "planted-in-a-setting", "BRINE_KAFKA_GROUP": "planted-in-the-wrong-one"}
	cfg, problems := Parse("brine.yaml", []byte(source), func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	if err := problems.Err(); err != nil {
		t.Fatal(problems)
	}
	got, err := cfg.Written()
	if err != nil || strings.Contains(got, "planted") {
		t.Fatalf("%v\n%s", err, got)
	}
	for _, want := range []string{`id + "|" + desc(at, ms)`, "${WHO}", "${BRINE_HTTP_TOKEN}", "${BRINE_KAFKA_GROUP}", "***", "${file:", "localhost:9092"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing:\n%s", want, got)
		}
	}
}

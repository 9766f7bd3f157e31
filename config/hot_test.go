package config_test

import (
	"strings"
	"testing"

	"brine/config"
)

func TestHotFieldsAreTextsThatAreDeclared(t *testing.T) {
	const file = `
kafka: { brokers: [localhost:9092] }
hbase: { connect: "rpc://localhost:16000" }
tables:
  scans: { row: event, key: "md5(waybill, 4) + waybill", families: { e: {} }, regions: 4 }
pipelines:
  scans:
    topic: scans
    format: json
    fields: { waybill: text, at: time_ms, station: text }
    version: at
    hot_fields: [HOT]
    rows: [ { table: scans, set: { "e:s": station } } ]
`
	for fields, want := range map[string]string{
		"station, waybill": "", "statoin": "did you mean station?", "station, at": "name fields declared text",
	} {
		_, problems := config.Parse("brine.yaml", []byte(strings.ReplaceAll(file, "HOT", fields)), func(string) (string, bool) { return "", false })
		switch err := problems.Err(); {
		case want == "" && err != nil:
			t.Errorf("%q: %v", fields, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "hot_fields[")):
			t.Errorf("%q: %v, want %q", fields, err, want)
		}
	}
}

package contract_test

import (
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"brine/contract"
	"brine/event"
	"brine/event/protobuf"
	"brine/internal/testenv"
)

var update = flag.Bool("update", false, "write the golden files")

// TestCanalPackets checks that Canal's packets are Protobuf in every language, and that brine takes what the document describes.
func TestCanalPackets(t *testing.T) {
	const golden = "testdata/canal.proto"
	p := load(t, "../examples/formats/canal-protobuf.yaml", "")
	text := document(t, p, "")
	if *update {
		if err := os.WriteFile(golden, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != string(want) {
		t.Errorf("got\n%s\nwant %s", text, golden)
	}
	s, err := protobuf.CompileText("canal.proto", string(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.Message("Packet") == nil || s.Message("Column") == nil {
		t.Errorf("it has %v", s.Messages())
	}
	column := func(name, value string) []byte { return testenv.Protobuf(3, name, 8, value) }
	header := testenv.Protobuf(2, "mysql-bin.000007", 3, 120, 6, now)
	row := testenv.Protobuf(2, column("id", "1"), 2, column("total", "9.50"), 2, column("made", "2024-02-29 23:59:59"))
	entry := testenv.Protobuf(1, header, 2, 2, 3, testenv.Protobuf(2, 1, 12, row))
	packet := testenv.Protobuf(3, 7, 5, testenv.Protobuf(2, entry))
	if why := verdict(t, p, event.Record{Value: packet, Timestamp: now}); why != "" {
		t.Errorf("rejected as %s", why)
	}

	async := string(document(t, p, contract.AsyncAPILanguage))
	for _, said := range []string{`"contentType": "application/x-protobuf"`, `"schemaFormat": "application/vnd.google.protobuf;version=3"`, `message Packet {`} {
		if !strings.Contains(async, said) {
			t.Errorf("AsyncAPI lacks %s in\n%s", said, async)
		}
	}
	terms, err := p.Terms()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []contract.Language{contract.JSONSchemaLanguage, contract.AvroLanguage} {
		if _, err := terms.In(l); !errors.Is(err, contract.ErrFormat) || !strings.Contains(err.Error(), "protobuf") {
			t.Errorf("%s: %v", l, err)
		}
	}
}

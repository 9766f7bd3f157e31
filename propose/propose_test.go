package propose_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/event"
	"brine/forecast"
	"brine/internal/sample"
	"brine/propose"
)

const now = 1_760_000_000_000

// of returns options for records with these values, whose keys are in a field; without a field, they have no keys.
func of(topic, key string, values iter.Seq[[]byte], limit int) propose.Options {
	var records []event.Record
	for value := range values {
		if len(records) == limit {
			break
		}
		rec := event.Record{Value: value, Timestamp: now}
		if key != "" {
			var fields map[string]any
			if json.Unmarshal(value, &fields) == nil {
				rec.Key = fmt.Append(nil, fields[key])
			}
		}
		records = append(records, rec)
	}
	return propose.Options{Topic: topic, Brokers: []string{"localhost:9092"}, HBase: "rpc://localhost:16000", Source: "a sample", Records: limit,
		Keyed: key != "", Open: func([]event.Field) (forecast.Sample, error) { return forecast.OfRecords(records), nil }}
}

func lines(text ...string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, line := range text {
			if !yield([]byte(line)) {
				return
			}
		}
	}
}

// csv returns options for a file, which is read without fields and then with them.
func csv(t *testing.T, topic, text string) propose.Options {
	file := filepath.Join(t.TempDir(), "sample.csv")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := of(topic, "", none, 1000)
	o.Texts = true
	o.Open = func(fields []event.Field) (forecast.Sample, error) { return forecast.OpenFile(file, "utf-8", fields) }
	return o
}

// none yields no records.
func none(func([]byte) bool) {}

// schemas begins a Debezium record that brings its schema.
const schemas = `{"schema":{"type":"struct","fields":[{"field":"after","type":"struct","fields":[{"field":"id","type":"int64"},` +
	`{"field":"name","type":"string","optional":true},{"field":"photo","type":"bytes","optional":true}]}]},"payload":`

// TestGolden shows the whole file for each kind of sample. BRINE_UPDATE=1 writes the present output.
func TestGolden(t *testing.T) {
	for name, o := range map[string]propose.Options{
		"scans":  of("courier.scans", "waybill", sample.Scans(), 4000),
		"orders": of("shop.orders", "order", sample.Orders(1000), 4000),
		"csv": csv(t, "shop.orders", `order_id,user_id,created,updated,status,total,zip,gift
1,u1,2024-01-01 10:00:00,2024-01-01 10:00:00,created,12.50,00501,false
1,u1,2024-01-01 10:00:00,2024-01-01 11:00:00,paid,12.50,00501,false
2,u1,2024-01-01 10:05:00,2024-01-01 10:05:00,created,3,10001,true
2,u1,2024-01-01 10:05:00,2024-01-01 10:06:00,paid,3,10001,true
3,u2,2024-01-02 10:00:00,2024-01-02 10:00:00,created,99.99,10001,false
`),
		"nested": of("app.events", "", lines(
			`{"id":"a|1","meta":{"ts":1700000000123,"host":{"name":"x","up":true}},"tags":["a"],"odd name":1,"n":"7"}`,
			`{"id":"a|2","meta":{"ts":1700000001123,"host":{"name":"y","up":false}},"tags":[],"odd name":2.5,"n":8}`,
			`not JSON`,
			`{"id":"a|3","meta":{"ts":1700000001123,"host":{"name":"y","up":false}},"tags":[],"odd name":2.5,"n":8}`), 100),
		"canal": of("shop.orders", "", lines(
			`{"id":1,"database":"shop","table":"orders","pkNames":["id"],"isDdl":false,"type":"INSERT","es":1700000000000,"ts":1700000000123,"mysqlType":{"id":"bigint(20)","user":"varchar(20)","total":"decimal(10,2)","at":"datetime(3)","note":"text"},"data":[{"id":"1","user":"u1","total":"9.50","at":"2024-05-01 08:00:00.123","note":null},{"id":"2","user":"u1","total":"9.50","at":"2024-05-01 08:00:00.123","note":"x"}],"old":null,"gtid":""}`,
			`{"id":2,"database":"shop","table":"orders","pkNames":["id"],"isDdl":true,"type":"ALTER","es":1700000000000,"ts":1700000000124,"data":null,"old":null,"sql":"ALTER TABLE orders"}`,
			`{"id":3,"database":"shop","table":"orders","pkNames":["id"],"isDdl":false,"type":"UPDATE","es":1700000001000,"ts":1700000001123,"mysqlType":{"id":"bigint(20)","user":"varchar(20)","total":"decimal(10,2)","at":"datetime(3)","note":"text"},"data":[{"id":"1","user":"u2","total":"9.00","at":"2024-05-01 08:00:00.123","note":null}],"old":[{"total":"9.50","user":"u1"}],"gtid":""}`), 100),
		"maxwell": of("shop.orders", "", lines(
			`{"database":"shop","table":"orders","type":"insert","ts":1700000000,"xid":1,"commit":true,"data":{"id":1,"user":"u1","total":9.5}}`,
			`{"database":"shop","table":"orders","type":"insert","ts":1700000000,"xid":2,"commit":true,"data":{"id":2,"user":"u1","total":9.5}}`,
			`{"database":"shop","table":"orders","type":"update","ts":1700000001,"xid":3,"commit":true,"data":{"id":1,"user":"u2","total":9.5},"old":{"user":"u1"}}`), 100),
		"maxwell_positions": of("shop.orders", "", lines(
			`{"database":"shop","table":"orders","type":"bootstrap-start","ts":1700000000,"data":{}}`,
			`{"database":"shop","table":"orders","type":"bootstrap-insert","ts":1700000000,"data":{"id":1,"user":"u1","total":9.5}}`,
			`{"database":"shop","table":"orders","type":"insert","ts":1700000000,"xid":2,"commit":true,"position":"bin.000006:800911","data":{"id":2,"user":"u1","total":9.5}}`,
			`{"database":"shop","table":"orders","type":"update","ts":1700000001,"xid":3,"xoffset":0,"position":"bin.000006:801911","data":{"id":1,"user":"u2","total":9.5},"old":{"user":"u1"}}`), 100),
		"sqlserver": of("shop.orders", "", lines(
			`{"before":null,"after":{"id":1,"user":"u1"},"source":{"connector":"sqlserver","ts_ms":1700000000000,"snapshot":"true","commit_lsn":"0000:1:1"},"op":"r","ts_ms":1700000000123}`,
			`{"before":{"id":1,"user":"u1"},"after":{"id":1,"user":"u2"},"source":{"connector":"sqlserver","ts_ms":1700000001000,"snapshot":"false","commit_lsn":"0000:1:2"},"op":"u","ts_ms":1700000001124}`,
			`{"before":null,"after":{"id":2,"user":"u1"},"source":{"connector":"sqlserver","ts_ms":1700000001000,"snapshot":"false","commit_lsn":"0000:1:3"},"op":"c","ts_ms":1700000001125}`), 100),
		"postgres": of("shop.orders", "", lines(
			`{"before":null,"after":{"id":1,"user":"u1"},"source":{"connector":"postgresql","ts_ms":1700000000000,"snapshot":"last","lsn":24023100,"xmin":null},"op":"r","ts_ms":1700000000123}`,
			`{"before":{"id":1,"user":"u1"},"after":{"id":1,"user":"u2"},"source":{"connector":"postgresql","ts_ms":1700000000000,"snapshot":"false","lsn":24023128,"xmin":null},"op":"u","ts_ms":1700000000124}`,
			`{"before":{"id":1,"user":"u2"},"after":null,"source":{"connector":"postgresql","ts_ms":1700000000000,"snapshot":"false","lsn":24023184,"xmin":null},"op":"d","ts_ms":1700000000125}`,
			`{"before":null,"after":{"id":2,"user":"u1"},"source":{"connector":"postgresql","ts_ms":1700000000000,"snapshot":"false","lsn":24023200,"xmin":null},"op":"c","ts_ms":1700000000126}`), 100),
		"mysql": of("shop.orders", "", lines(
			`{"before":null,"after":{"id":1,"pos":"u1"},"source":{"connector":"mysql","ts_ms":1700000000000,"snapshot":"false","file":"bin.000003","pos":805,"row":0},"op":"c","ts_ms":1700000000123}`,
			`{"before":{"id":1,"pos":"u1"},"after":{"id":1,"pos":"u2"},"source":{"connector":"mysql","ts_ms":1700000000000,"snapshot":"false","file":"bin.000004","pos":805,"row":0},"op":"u","ts_ms":1700000000124}`,
			`{"before":null,"after":{"id":2,"pos":"u1"},"source":{"connector":"mysql","ts_ms":1700000000000,"snapshot":"false","file":"bin.000004","pos":905,"row":0},"op":"c","ts_ms":1700000000126}`), 100),
		"schemas": of("shop.users", "", lines(
			schemas+`{"before":null,"after":{"id":1,"name":"u1","photo":"AP8="},"source":{"connector":"postgresql","ts_ms":1700000000000,"lsn":24023100},"op":"c","ts_ms":1700000000123}}`,
			schemas+`{"before":{"id":1,"name":"u1","photo":"AP8="},"after":{"id":1,"name":"u2","photo":null},"source":{"connector":"postgresql","ts_ms":1700000000000,"lsn":24023128},"op":"u","ts_ms":1700000000124}}`,
			schemas+`{"before":null,"after":{"id":2,"name":"u1","photo":null},"source":{"connector":"postgresql","ts_ms":1700000000000,"lsn":24023200},"op":"c","ts_ms":1700000000126}}`), 100),
	} {
		t.Run(name, func(t *testing.T) {
			p, err := propose.Of(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			got := p.YAML(0)
			golden := filepath.Join("testdata", name+".yaml")
			if os.Getenv("BRINE_UPDATE") == "1" {
				if err := os.WriteFile(golden, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestSeparatorsOfFiles checks that the proposal for a file of CSV does not depend on what separates its values.
func TestSeparatorsOfFiles(t *testing.T) {
	const text = "order_id,created,note\n1,2024-01-01 10:00:00,\"a \"\"b\"\"\"\n2,2024-01-01 10:05:00,c\n"
	want, err := propose.Of(t.Context(), csv(t, "orders", text))
	if err != nil {
		t.Fatal(err)
	}
	for _, separator := range []string{";", "\t", "|"} {
		got, err := propose.Of(t.Context(), csv(t, "orders", strings.ReplaceAll(text, ",", separator)))
		if err != nil {
			t.Errorf("%q: %v", separator, err)
		} else if string(got.YAML(0)) != string(want.YAML(0)) {
			t.Errorf("%q: got\n%s\nwant\n%s", separator, got.YAML(0), want.YAML(0))
		}
	}
}

// TestTimesByTheirNumbers checks which whole numbers are taken for times, in which unit.
func TestTimesByTheirNumbers(t *testing.T) {
	debezium := `{"before":%s,"after":%[1]s,"source":{"ts_ms":1700000000000,"lsn":1700000000%d},"op":"u","ts_ms":1}`
	canal := `{"id":1,"database":"d","table":"t","pkNames":["id"],"isDdl":false,"type":"INSERT","es":1700000000000,"ts":1,` +
		`"mysqlType":{"id":"bigint(20)","n":"bigint(20)"},"data":[{"id":"%d","n":"1700000000%03[1]d"}],"old":null}`
	row := func(name, digits string, i int) string {
		return fmt.Sprintf(`{"id":"%d","%s":1700000000%s%d}`, i, name, digits, i)
	}
	for want, form := range map[string]func(i int) string{
		"created: time_us":  func(i int) string { return fmt.Sprintf(debezium, row("created", "00000", i), i) },
		"lsn: { type: int,": func(i int) string { return fmt.Sprintf(debezium, row("x", "00000", i), 100+i) },
		"n: time_ms":        func(i int) string { return fmt.Sprintf(canal, i) },
		"made_at: time_ns":  func(i int) string { return row("made_at", "00000000", i) },
		"size: int":         func(i int) string { return row("size", "00000", i) },
		"snowflake: int":    func(i int) string { return row("snowflake", "00000000", i) },
	} {
		p, err := propose.Of(t.Context(), of("t", "", lines(form(1), form(2), form(3)), 100))
		if err != nil {
			t.Errorf("%s: %v", want, err)
		} else if text := string(p.YAML(0)); !strings.Contains(text, " "+want) || p.Bad > 0 {
			t.Errorf("%d bad; no %s in\n%s", p.Bad, want, text)
		}
	}
}

// TestColumnsAreOfRows checks that column names are refused for a sample that has its own.
func TestColumnsAreOfRows(t *testing.T) {
	file := csv(t, "orders", "id,n\na,1\nb,2\n")
	objects := of("orders", "", lines(`{"id":"a"}`, `{"id":"b"}`), 10)
	rows := of("orders", "", lines("a,1,x", "b,2,y"), 10)
	for want, o := range map[string]*propose.Options{"the first row of a sample names its columns": &file,
		"names 2 values of each CSV row, but the records of a sample are not such rows": &objects, "or correct the names": &rows} {
		o.Columns = []string{"x", "y"}
		if _, err := propose.Of(t.Context(), *o); !errors.Is(err, propose.ErrSample) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestTiesAreCounted checks that of two times the one with fewer ties is the version, and that a time that never changes is none.
func TestTiesAreCounted(t *testing.T) {
	p, err := propose.Of(t.Context(), of("t", "id", lines(
		`{"id":"a","day":"2024-01-01","at":1700000000000,"born":1600000000000,"s":"x"}`,
		`{"id":"a","day":"2024-01-01","at":1700000000001,"born":1600000000000,"s":"y"}`,
		`{"id":"a","day":"2024-01-02","at":1700000000001,"born":1600000000000,"s":"z"}`,
		`{"id":"a","day":"2024-01-02","at":1700000000001,"born":1600000000000,"s":"z"}`,
		`{"id":"b","day":"2024-01-02","at":1700000000002,"born":1600000000003,"s":"x"}`), 100))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range p.Versions {
		got = append(got, fmt.Sprintf("%s %d", v.Field, v.Ties))
	}
	// The records' own times are all the same, and one record came twice, which is not a tie.
	if want := "at 1,day 1, 2"; strings.Join(got, ",") != want {
		t.Errorf("got %q, want %q", strings.Join(got, ","), want)
	}
}

// TestCollisionsAreCounted checks that if no field distinguishes two records, the proposal says how many would be lost.
func TestCollisionsAreCounted(t *testing.T) {
	p, err := propose.Of(t.Context(), of("t", "id", lines(
		`{"id":"a","at":1700000000000,"x":1.5}`, `{"id":"a","at":1700000000000,"x":2.5}`, `{"id":"a","at":1700000000001,"x":2.5}`,
		`{"id":"b","at":1700000000001,"x":2.5}`), 100))
	if err != nil {
		t.Fatal(err)
	}
	if k := p.Keys[0]; k.Row != "event" || k.Clash != 1 || k.Rows != 3 {
		t.Errorf("%+v", k)
	}
	if text := string(p.YAML(0)); !strings.Contains(text, "1 record would overwrite a different one") {
		t.Errorf("the file does not say so:\n%s", text)
	}
}

// TestOneRecord checks that one record gives a proposal with a key for several changes, which says how little it proves.
func TestOneRecord(t *testing.T) {
	const warning = "# One record proves little"
	one := `{"status":"paid","order":"O1","at":1700000000000}`
	for name, values := range map[string]iter.Seq[[]byte]{"one": lines(one), "twice the same": lines(one, one)} {
		p, err := propose.Of(t.Context(), of("t", "", values, 100))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, want := p.Keys[0].Expr, `md5(order, 4) + order + "|" + desc(at, ms)`; got != want || len(p.Keys) != 2 || p.Keys[1].Row != "entity" {
			t.Errorf("%s: keys %+v, want %s first", name, p.Keys, want)
		}
		if text := string(p.YAML(0)); !p.Single || !strings.Contains(text, warning) {
			t.Errorf("%s: the file does not say how little it proves:\n%s", name, text)
		}
	}
	p, err := propose.Of(t.Context(), of("t", "", lines(one, `{"status":"paid","order":"O2","at":1700000000000}`), 100))
	if err != nil || p.Single || strings.Contains(string(p.YAML(0)), warning) {
		t.Errorf("two records: %+v, %v", p, err)
	}
}

func TestNothingToPropose(t *testing.T) {
	for name, c := range map[string]struct {
		values iter.Seq[[]byte]
		want   string
	}{
		"no records": {none, "holds 0 records"},
		"no JSON":    {lines("a", "b"), "none of them is a JSON object"},
		"no order":   {lines(`{"id":1,"__op":"c","__ts_ms":5}`, `{"id":2,"__op":"c","__ts_ms":6}`), "add the place in the log and the time to its add.fields"},
		"no name":    {lines(`{"x":1.5}`, `{"x":2.5}`), "no field of a sample identifies what a record is about"},
	} {
		_, err := propose.Of(context.Background(), of("t", "", c.values, 10))
		if !errors.Is(err, propose.ErrSample) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// What nothing is recognized in is described, with what to do.
func TestWhatWasSeen(t *testing.T) {
	header := func(name string, value ...byte) []event.Header { return []event.Header{{Key: name, Value: value}} }
	for name, c := range map[string]struct {
		value   string
		headers []event.Header
		keyed   bool
		want    string
	}{
		"a container file":   {"Obj\x01\x04", nil, false, "a sample is an Avro object container file; a sample is JSON lines or CSV, also gzipped as FILE.gz, or an Avro object"},
		"a container":        {"Obj\x01\x04", nil, true, "the first record of a sample is an Avro object container file; a pipeline reads one value of Avro per record"},
		"compressed":         {"\x1f\x8b\x08", nil, true, "the first record of a sample is compressed by gzip; let Kafka compress"},
		"an id":              {"\x00\x00\x00\x00\x07\x02a", nil, true, "names its schema, id 7; give the registry's address with --registry"},
		"an id in a header":  {"\x02a", header("apicurio.value.globalId", 0, 0, 0, 0, 0, 0, 0, 9), true, "names its schema, globalId 9; give the registry's"},
		"a GUID in a header": {"\x02a", header("__value_schema_id", append([]byte{1}, make([]byte, 16)...)...), true, "names its schema, guid 0000"},
		"Glue":               {"\x03\x00" + strings.Repeat("a", 20), nil, true, "framed for the AWS Glue Schema Registry"},
		"text":               {"anything goes", nil, true, `the first is the text "anything goes"; if texts are to be written as they are, use format: raw`},
		"bytes":              {"\x0a\x02\xff", nil, true, "the first begins with the bytes 0a02ff; if it is Avro or Protobuf, give the schema with --schema"},
		"bytes of a file":    {"\x0a\x02\xff", nil, false, "the first begins with the bytes 0a02ff; a sample is JSON lines or CSV"},
	} {
		o := of("t", "", none, 10)
		o.Keyed = c.keyed
		o.Open = func([]event.Field) (forecast.Sample, error) {
			return forecast.OfRecords([]event.Record{{Value: []byte(c.value), Headers: c.headers, Timestamp: now}}), nil
		}
		if _, err := propose.Of(t.Context(), o); !errors.Is(err, propose.ErrSample) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// If any change lacks its position in the log, its time is the version.
func TestPlacesOfAllChanges(t *testing.T) {
	change := func(id int, op, place string) string {
		row := fmt.Sprintf(`{"id":%d,"user":"u"}`, id)
		return fmt.Sprintf(`{"before":%s,"after":%[1]s,"source":{"ts_ms":1700000000000%s},"op":%q}`, row, place, op)
	}
	for _, c := range []struct{ first, second, want string }{
		{`,"lsn":5`, `,"lsn":7`, "lsn(lsn)"},
		{`,"lsn":5`, `,"lsn":null`, "changed_at"}, // a row of an incremental snapshot
		{`,"file":"bin.1","pos":4`, `,"file":"bin.1","pos":9`, "binlog(file, pos)"},
		{`,"file":"bin.1","pos":4`, `,"file":"","pos":0`, "changed_at"},
		{`,"change_lsn":"00:1"`, `,"change_lsn":"00:2"`, "changed_at"}, // SQL Server
	} {
		p, err := propose.Of(t.Context(), of("t", "", lines(change(1, "u", c.first), change(2, "u", c.second)), 100))
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Versions[0].Field; got != c.want {
			t.Errorf("%s and %s: version %s, want %s", c.first, c.second, got, c.want)
		}
	}
}

// FuzzOf checks that any records give a proposal or an error, and that a proposal names its own fields.
func FuzzOf(f *testing.F) {
	f.Add([]byte(`{"id":"a","at":1700000000000}`), []byte(`{"id":"b","at":1700000000000,"o":{"":{"\u0000":1}}}`))
	f.Add([]byte(`{"1":"2","_":{"_":{"_":{"_":{"_":1}}}}}`), []byte(`{"1":"3","_":null}`))
	f.Add([]byte(`{"a.b":"x","a":{"b":"y"}}`), []byte(`{"a.b":"y","a":{"b":"z"}}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		p, err := propose.Of(t.Context(), of("t", "", lines(string(a), string(b)), 2))
		if err != nil {
			return
		}
		for i := range p.Keys {
			if text := p.YAML(i); len(text) == 0 {
				t.Fatal("an empty file")
			}
		}
	})
}

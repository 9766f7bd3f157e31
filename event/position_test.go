package event_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"brine/derive"
	"brine/event"
)

var binlog = event.Schema{
	Fields:   []event.Field{{Name: "file", Type: event.Text}, {Name: "pos", Type: event.Int}, {Name: "server", Type: event.Int}},
	Version:  -1,
	Position: &event.Position{File: "file", Pos: "pos", Source: "server", Epochs: map[string]int64{"1": 0, "2": 1, "9": 255}},
}

var binlogText = event.Schema{Fields: []event.Field{{Name: "position", Type: event.Text}}, Version: -1, Position: &event.Position{File: "position"}}

var lsn = event.Schema{Fields: []event.Field{{Name: "lsn", Type: event.Int}}, Version: -1, Position: &event.Position{LSN: "lsn"}}

var lsnText = event.Schema{Fields: []event.Field{{Name: "lsn", Type: event.Int, Convert: event.Conversion{FromText: true}}}, Version: -1,
	Position: &event.Position{LSN: "lsn"}}

// TestPositions: positions in a log are versions, regardless of the record's time. Those that do not fit or cannot be compared halt;
// something that is not a position is the record's own fault.
func TestPositions(t *testing.T) {
	for _, c := range []struct {
		schema      event.Schema
		in, want    string
		haltsBehind bool
	}{
		{lsn, `{"lsn":24023128}`, "24023128", false},
		{lsn, `{"lsn":36028797018963967}`, "36028797018963967", false}, // 2⁵⁵−1
		{lsn, `{"lsn":36028797018963968}`, "bad_version: field lsn: 36028797018963968 does not fit the 55 bits that a version has for it; " +
			"write to a new table, where versions start again", true},
		{lsn, `{"lsn":9223372036854775808}`, "bad_version: field lsn: 9223372036854775808 does not fit the 55 bits that a version has for it; " +
			"write to a new table, where versions start again", true},
		{lsnText, `{"lsn":"18446744073709551615"}`, "bad_version: field lsn: 18446744073709551615 does not fit the 55 bits that a version has for it; " +
			"write to a new table, where versions start again", true},
		{lsnText, `{"lsn":"99999999999999999999.5"}`, "wrong_type: field lsn: the number does not fit 64 bits", false},
		{lsn, `{"lsn":99999999999999999999.5}`, "wrong_type: field lsn: the number does not fit 64 bits", false},
		{lsn, `{"lsn":-9223372036854775809}`, "wrong_type: field lsn: the number does not fit 64 bits", false},
		{binlog, `{"file":"b.1","pos":18446744073709551615,"server":1}`, "bad_version: field pos: 18446744073709551615 does not fit the 32 bits that a " +
			"version has for it; write to a new table, where versions start again", true},
		{binlog, `{"file":"b.1","pos":4,"server":9223372036854775808}`, `bad_version: field server: "9223372036854775808" has no epoch, so its positions ` +
			"cannot be compared with those of other sources; add it to epochs, with a higher number than the sources before it", true},
		{lsn, `{"lsn":-1}`, "bad_version: field lsn: -1 is negative", false},
		{lsn, `{}`, "missing_field: field lsn: it is part of the version of the event", false},
		{binlog, `{"file":"bin.000003","pos":805,"server":1}`, fmt.Sprint(3<<32 | 805), false},
		{binlog, `{"file":"bin.000123","pos":4,"server":1}`, fmt.Sprint(123<<32 | 4), false}, // compared as numbers, not as texts
		{binlog, `{"file":"bin.000003","pos":805,"server":2}`, fmt.Sprint(1<<55 | 3<<32 | 805), false},
		{binlog, `{"file":"host.name.8388607","pos":4294967295,"server":2}`, fmt.Sprint(1<<55 | 8388607<<32 | 4294967295), false},
		{binlog, `{"file":"b.8388607","pos":4294967295,"server":9}`, "bad_version: HBase reserves 9223372036854775807 to mean now", true},
		{binlog, `{"file":"b.8388608","pos":4,"server":1}`, "bad_version: field file: 8388608 does not fit the 23 bits that a version has for it; " +
			"write to a new table, where versions start again", true},
		{binlog, `{"file":"b.1","pos":4294967296,"server":1}`, "bad_version: field pos: 4294967296 does not fit the 32 bits that a version has for it; " +
			"write to a new table, where versions start again", true},
		{binlog, `{"file":"b.1","pos":4,"server":3}`, `bad_version: field server: "3" has no epoch, so its positions cannot be compared with ` +
			"those of other sources; add it to epochs, with a higher number than the sources before it", true},
		{binlog, `{"file":"bin","pos":4,"server":1}`, `bad_version: field file: a binlog's file name must end with a dot and a number, found "bin"`, false},
		{binlog, `{"file":"bin.","pos":4,"server":1}`, `bad_version: field file: a binlog's file name must end with a dot and a number, found "bin."`, false},
		{binlogText, `{"position":"master.000006:800911"}`, fmt.Sprint(6<<32 | 800911), false},
		{binlogText, `{"position":"a:b.000123:4"}`, fmt.Sprint(123<<32 | 4), false},
		{binlogText, `{"position":"bin.000003"}`, `bad_version: field position: a position must be a binlog's file name, a colon and a number, found "bin.000003"`, false},
		{binlogText, `{"position":"bin.000003:"}`, `bad_version: field position: a position must be a binlog's file name, a colon and a number, found "bin.000003:"`, false},
		{binlogText, `{"position":"4"}`, `bad_version: field position: a position must be a binlog's file name, a colon and a number, found "4"`, false},
		{binlogText, `{"position":""}`, `bad_version: field position: a position must be a binlog's file name, a colon and a number, found ""`, false},
		{binlogText, `{"position":"bin:4"}`, `bad_version: field position: a binlog's file name must end with a dot and a number, found "bin"`, false},
		{binlogText, `{"position":"b.1:4294967296"}`, "bad_version: field position: 4294967296 does not fit the 32 bits that a version has for it; " +
			"write to a new table, where versions start again", true},
		{binlogText, `{"position":"b.1:9223372036854775808"}`, "bad_version: field position: 9223372036854775808 does not fit the 32 bits that a version " +
			"has for it; write to a new table, where versions start again", true},
		{binlogText, `{"position":"b.99999999999999999999:4"}`, "bad_version: field position: 99999999999999999999 does not fit the 23 bits that a version " +
			"has for it; write to a new table, where versions start again", true},
		{binlog, `{"file":"b.9223372036854775808","pos":4,"server":1}`, "bad_version: field file: 9223372036854775808 does not fit the 23 bits that a version " +
			"has for it; write to a new table, where versions start again", true},
		{binlogText, `{"position":"b.99999999999999999999x:4"}`, `bad_version: field position: a binlog's file name must end with a dot and a number, ` +
			`found "b.99999999999999999999x"`, false},
		{binlogText, `{"type":"bootstrap-insert"}`, "missing_field: field position: it is part of the version of the event", false},
		{binlog, `{"pos":4,"server":1}`, "missing_field: field file: it is part of the version of the event", false},
		{binlog, `{"file":"b.1","pos":4,"server":null}`, "missing_field: field server: it is part of the version of the event", false},
	} {
		e, err := decode(c.schema, c.in, 0)
		got := fmt.Sprint(e.Version)
		if err != nil {
			got = err.Error()
			fault := (*event.Error)(nil)
			if !errors.As(err, &fault) || fault.Halts != c.haltsBehind {
				t.Errorf("%s: halts: %v, want %v", c.in, fault.Halts, c.haltsBehind)
			}
		}
		if got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.in, got, c.want)
		}
	}
}

// TestPositionsOrderAsLogsDo checks that a later position has a greater version, and a later source a greater one wherever it is.
func TestPositionsOrderAsLogsDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type place struct{ epoch, file, pos int64 }
		draw := func(name string) place {
			return place{rapid.SampledFrom([]int64{0, 1}).Draw(t, name+" epoch"), rapid.Int64Range(0, 1<<23-1).Draw(t, name+" file"),
				rapid.Int64Range(0, 1<<32-1).Draw(t, name+" pos")}
		}
		version := func(p place) int64 {
			e, err := decode(binlog, fmt.Sprintf(`{"file":"mysql-bin.%06d","pos":%d,"server":%d}`, p.file, p.pos, p.epoch+1), 0)
			if err != nil {
				t.Fatal(err)
			}
			return e.Version
		}
		a, b := draw("a"), draw("b")
		want := cmp.Or(cmp.Compare(a.epoch, b.epoch), cmp.Compare(a.file, b.file), cmp.Compare(a.pos, b.pos))
		if got := cmp.Compare(version(a), version(b)); got != want {
			t.Fatalf("%v and %v: %d, want %d", a, b, got, want)
		}
	})
}

func TestPositionsAreValidated(t *testing.T) {
	for want, change := range map[string]func(*event.Schema, *event.Position){
		"": func(*event.Schema, *event.Position) {},
		`field "x", which is part of the version, is not declared; add it to fields`:                                                          func(_ *event.Schema, p *event.Position) { p.Pos = "x" },
		"field pos, which is part of the version, is declared int; it must be text":                                                           func(_ *event.Schema, p *event.Position) { p.File = "pos" },
		"epoch 256 of 9; an epoch is 0 to 255":                                                                                                func(_ *event.Schema, p *event.Position) { p.Epochs = map[string]int64{"9": 256} },
		"a version that is a position cannot be combined with another version or a lateness, and epochs need the field that names the source": func(s *event.Schema, p *event.Position) { p.Source = "" },
	} {
		s, p := binlog, *binlog.Position
		change(&s, &p)
		s.Position = &p
		got := ""
		if err := s.Validate(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestIncrementalSnapshotsStandBelowTheLog: their rows, which have no LSN, are older than the whole log of their epoch, and newer than the
// epoch before. Any other row without an LSN is rejected.
func TestIncrementalSnapshotsStandBelowTheLog(t *testing.T) {
	fields := func(e event.Envelope, more ...event.Field) event.Schema {
		s := event.Schema{Version: -1, Images: event.Images{Deleted: "gone"}, Position: &event.Position{LSN: "lsn", Source: "server",
			Epochs: map[string]int64{"a": 0, "b": 1}},
			Fields: append([]event.Field{{Name: "id", Type: event.Int}, {Name: "gone", Type: event.Bool},
				{Name: "lsn", Type: event.Int, Path: []string{"$source", "lsn"}}, {Name: "server", Type: event.Text, Path: []string{"$source", "name"}}}, more...)}
		return e.Wrap(s)
	}
	wrapped := fields(event.Envelope{Form: event.Debezium})
	bare := fields(event.Envelope{Form: event.Debezium, Unwrapped: true, Keys: []string{"id"}})
	short := event.Schema{Version: -1, Position: &event.Position{LSN: "lsn"}, Fields: []event.Field{{Name: "id", Type: event.Int},
		{Name: "lsn", Type: event.Int, Path: []string{"$lsn"}}}}
	short = (&event.Envelope{Form: event.Debezium, Unwrapped: true, Keys: []string{"id"}}).Wrap(short)
	declared := fields(event.Envelope{Form: event.Debezium}, event.Field{Name: "snapshot", Type: event.Text, Path: []string{"$source", "snapshot"}})
	made, mixed := letting(t, wrapped, "lsn"), letting(t, wrapped, `server == "b" ? lsn : id`)
	row := func(server, lsn, snapshot string) string {
		return fmt.Sprintf(`{"before":null,"after":{"id":1},"source":{"name":%q,"snapshot":%s,"lsn":%s},"op":"r"}`, server, snapshot, lsn)
	}
	const missing = "missing_field: field source.lsn: it is part of the version of the event"
	for _, c := range []struct {
		schema   event.Schema
		in, want string
	}{
		{wrapped, row("a", "null", `"incremental"`), "0"},
		{wrapped, row("b", "null", `"incremental"`), fmt.Sprint(int64(1) << 55)},
		{declared, row("b", "null", `"incremental"`), fmt.Sprint(int64(1) << 55)},
		{wrapped, row("b", "7", `"incremental"`), fmt.Sprint(int64(1)<<55 + 7)},
		{wrapped, row("a", "7", `"last"`), "7"}, {wrapped, row("a", "7", "true"), "7"}, {wrapped, row("a", "7", "null"), "7"}, {wrapped, row("a", "7", "{}"), "7"},
		{wrapped, row("a", "null", `"last"`), missing}, {wrapped, row("a", "null", "null"), missing}, {wrapped, row("a", "null", "true"), missing},
		{wrapped, row("c", "null", `"incremental"`), `bad_version: field source.name: "c" has no epoch, so its positions cannot be compared with ` +
			"those of other sources; add it to epochs, with a higher number than the sources before it"},
		{wrapped, `{"schema":{"type":"struct"},"payload":` + row("b", "null", `"incremental"`) + "}", fmt.Sprint(int64(1) << 55)},
		{bare, `{"id":1,"__source_name":"b","__source_snapshot":"incremental","__source_lsn":null}`, fmt.Sprint(int64(1) << 55)},
		{bare, `{"id":1,"__source_name":"b","__source_lsn":9}`, fmt.Sprint(int64(1)<<55 + 9)},
		{short, `{"id":1,"__snapshot":"incremental","__lsn":null}`, "0"},
		{short, `{"id":1,"__snapshot":"incremental","__lsn":9}`, "9"},
		{short, `{"id":1,"__snapshot":"last","__lsn":null}`, "missing_field: field __lsn: it is part of the version of the event"},
		{made, row("b", "null", `"incremental"`), fmt.Sprint(int64(1) << 55)},
		{made, row("b", "7", `"incremental"`), fmt.Sprint(int64(1)<<55 + 7)},
		{made, row("a", "null", "true"), "missing_field: field v: it is part of the version of the event"},
		{mixed, row("b", "null", `"incremental"`), "missing_field: field v: it is part of the version of the event"},
		{bare, `{"id":1,"__source_name":"b"}`, "missing_field: field __source_lsn: it is part of the version of the event"},
	} {
		wantVersion(t, c.schema, c.in, c.want)
	}
}

// letting returns a schema whose position is a field v that an expression makes.
func letting(t *testing.T, s event.Schema, expression string) event.Schema {
	t.Helper()
	b := derive.New(s.Fields)
	if _, err := b.Let("v", event.Int, "let.v", expression); err != nil {
		t.Fatal(err)
	}
	s.Derive = b.Rules()
	s.Fields = append(slices.Clone(s.Fields), event.Field{Name: "v", Type: event.Int, Made: true})
	of := *s.Position
	of.LSN = "v"
	s.Position = &of
	return s
}

// wantVersion checks the version of a record, or why it has none.
func wantVersion(t *testing.T, s event.Schema, in, want string) {
	t.Helper()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	e, err := decode(s, in, 0)
	got := fmt.Sprint(e.Version)
	if err != nil {
		got = err.Error()
	}
	if got != want {
		t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
	}
}

// TestBootstrapsStandBelowTheLog: rows of Maxwell's bootstraps, which have no position, are older than the whole log of their epoch, and
// newer than the epoch before. Any other row without a position is rejected.
func TestBootstrapsStandBelowTheLog(t *testing.T) {
	fields := func(more ...event.Field) event.Schema {
		s := event.Schema{Version: -1, Images: event.Images{Deleted: "gone"}, Position: &event.Position{File: "position", Source: "log",
			Epochs: map[string]int64{"a": 0, "b": 1}},
			Fields: append([]event.Field{{Name: "id", Type: event.Int}, {Name: "gone", Type: event.Bool},
				{Name: "position", Type: event.Text, Path: []string{"$position"}}, {Name: "log", Type: event.Text, Path: []string{"$log"}}}, more...)}
		return (&event.Envelope{Form: event.Maxwell}).Wrap(s)
	}
	plain, declared := fields(), fields(event.Field{Name: "kind", Type: event.Text, Path: []string{"$type"}})
	row := func(kind, log, position string) string {
		return fmt.Sprintf(`{"database":"shop","table":"orders","type":%q,"log":%q,"ts":1700000000,%s"data":{"id":1},"old":{}}`, kind, log, position)
	}
	const missing, at = "missing_field: field position: it is part of the version of the event", `"position":"bin.000001:7",`
	for _, c := range []struct {
		schema   event.Schema
		in, want string
	}{
		{plain, row("bootstrap-insert", "a", ""), "0"},
		{plain, row("bootstrap-insert", "a", `"position":null,`), "0"},
		{plain, row("bootstrap-insert", "b", ""), fmt.Sprint(int64(1) << 55)},
		{declared, row("bootstrap-insert", "b", ""), fmt.Sprint(int64(1) << 55)},
		{plain, row("update", "a", at), fmt.Sprint(int64(1)<<32 | 7)},
		{plain, row("delete", "b", at), fmt.Sprint(int64(1)<<55 | 1<<32 | 7)},
		{plain, row("insert", "a", ""), missing}, {plain, row("update", "a", ""), missing}, {plain, row("delete", "a", ""), missing},
		{plain, row("bootstrap-insert", "c", ""), `bad_version: field log: "c" has no epoch, so its positions cannot be compared with ` +
			"those of other sources; add it to epochs, with a higher number than the sources before it"},
	} {
		wantVersion(t, c.schema, c.in, c.want)
	}
}

package operations

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"brine/config"
	"brine/examples"
	"brine/internal/fault"
	"brine/serve/client"
)

// keysOf returns Operations with a configuration but no stores.
func keysOf(t *testing.T, replaced ...string) *Operations {
	t.Helper()
	cfg, problems := config.Parse("dev.yaml", []byte(strings.NewReplacer(replaced...).Replace(string(examples.Dev))),
		func(string) (string, bool) { return "", false })
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return &Operations{cfg: func() *config.Config { return cfg }}
}

// TestKey checks that keys of tables and of expressions are shown as by brine key, with the positions of their mistakes.
func TestKey(t *testing.T) {
	o := keysOf(t)
	waybill := []string{"waybill:text", "at:time"}
	for name, c := range map[string]struct {
		of   client.KeyOf
		says []string
	}{
		"a row, ranges, split points": {client.KeyOf{Key: `salt(4, waybill) + waybill + "|" + desc(at, ms)`, Fields: waybill, Regions: 4,
			Values: []string{"waybill=W1", "at=1000"}, Where: []string{"at=1970-01-01.."}},
			[]string{`"key":"salt(4, waybill) + waybill + \"|\" + desc(at, ms)"`, `W1|\\x7F\\xFF`, `"bytes":12`, `"splits":["\\x01","\\x02","\\x03"]`,
				`"scans_wrong":`, `"value":"W1"`}},
		"one scan a bucket": {client.KeyOf{Key: `salt(4, at) + waybill`, Fields: waybill, Entity: true, Where: []string{"waybill=W1"}},
			[]string{`"scans":[{"start":"\\x00W1","stop":"\\x00W1\\x00"},{"start":"\\x01W1"`}},
		"a mistake":        {client.KeyOf{Key: `md5(waybil, 4)`, Fields: waybill}, []string{`"parts":[]`, `"severity":"error","column":5`, `waybill`}},
		"a warning":        {client.KeyOf{Key: `asc(at, ms) + waybill`, Fields: waybill}, []string{`"severity":"warning"`}},
		"no split points":  {client.KeyOf{Key: `waybill`, Fields: waybill, Regions: 4}, []string{`"splits":[]`, `"splits_wrong":"the key waybill does not`}},
		"a value is none":  {client.KeyOf{Key: `asc(at, ms)`, Fields: waybill, Values: []string{"at=soon"}}, []string{`"row_wrong":`}},
		"a row is none":    {client.KeyOf{Key: `asc(at, ms)`, Fields: waybill, Row: `W`}, []string{`"row_wrong":`, `"row":"W"`}},
		"a table's":        {client.KeyOf{Table: "logistics:scans"}, []string{`{"name":"waybill","type":"text"}`, `"expr":"md5(waybill, 4)","width":4`}},
		"a table's row":    {client.KeyOf{Table: "logistics:scans", Row: `3ddbUA-1545-20130101-EWR|\x7F\xFF\xFE\xC4\x0Ab\xC6\x9F|DEPART`}, []string{`"value":"UA-1545-20130101-EWR"`}},
		"a table's ranges": {client.KeyOf{Table: "shop:orders", Where: []string{"user=u1"}}, []string{`"scans":[{"start":"`}},
	} {
		got, err := o.Key(t.Context(), c.of, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		for _, says := range c.says {
			if !strings.Contains(string(text), says) {
				t.Errorf("%s: no %s in %s", name, says, text)
			}
		}
		if none := len(c.of.Values) == 0 && c.of.Row == ""; none && strings.Contains(string(text), `"row_wrong"`) {
			t.Errorf("%s: no row was asked for: %s", name, text)
		}
	}
	for name, of := range map[string]client.KeyOf{
		"no such table": {Table: "nowhere"}, "no type": {Key: "a", Fields: []string{"a"}}, "no such type": {Key: "a", Fields: []string{"a:word"}},
		"no query": {Key: "a", Fields: []string{"a:text"}, Queries: []string{"a.. b.."}},
	} {
		_, err := o.Key(t.Context(), of, nil)
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Kind != fault.Usage && f.Kind != fault.Missing {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestKeyOfMaskedTable checks that the meaning of a row with a masked key is not shown.
func TestKeyOfMaskedTable(t *testing.T) {
	o := keysOf(t, "    topic: courier.scans\n", "    topic: courier.scans\n    mask: [waybill]\n")
	got, err := o.Key(t.Context(), client.KeyOf{Table: "logistics:scans", Row: `3ddbplanted|\x7F\xFF\xFE\xC4\x0Ab\xC6\x9F|DEPART`}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range got.Parts {
		if strings.Contains(p.Value+p.Bytes, "planted") || strings.Contains(p.Bytes, "DEPART") {
			t.Errorf("%+v", p)
		}
	}
}

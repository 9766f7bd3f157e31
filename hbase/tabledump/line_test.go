package tabledump

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzBytes checks that all bytes survive being written and read.
func FuzzBytes(f *testing.F) {
	for _, seed := range []string{"", "a", "\x00", "\xff", "中", "\ufffd", "\"\\\n\t\r", "\x7f", "<&>\u2028", "{\"base64\":\"\"}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		line, err := json.Marshal(text(b))
		if err != nil {
			t.Fatal(err)
		}
		var back text
		if err := json.Unmarshal(line, &back); err != nil || !bytes.Equal(back, b) {
			t.Errorf("%q is written as %s and read as %q (%v)", b, line, back, err)
		}
	})
}

// FuzzLines checks that no line makes the reader panic, and that a decoded cell has all of its parts.
func FuzzLines(f *testing.F) {
	f.Add([]byte(`{"row":"r","family":"f","qualifier":{"base64":"AA=="},"timestamp":1,"type":"put","value":""}`))
	f.Add([]byte(`{"row":null,"type":"delete"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		c, _, err := parseCell(line)
		if err == nil && (c.Row == nil || c.Family == nil || c.Qualifier == nil || c.Timestamp == nil) {
			t.Errorf("%q lacks parts", line)
		}
	})
}

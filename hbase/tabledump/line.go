package tabledump

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"brine/hbase"
)

// text is bytes. In JSON it is a string if that is readable and preserves the bytes, and {"base64": …} otherwise.
type text []byte

type inBase64 struct {
	Base64 *[]byte `json:"base64"`
}

func (b text) MarshalJSON() ([]byte, error) {
	if !readable(b) {
		raw := []byte(b)
		return json.Marshal(inBase64{&raw})
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(string(b))
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// readable reports whether b is text without control characters other than tabs and line ends.
func readable(b []byte) bool {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n <= 1 || r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f {
			return false
		}
		b = b[n:]
	}
	return true
}

func (b *text) UnmarshalJSON(raw []byte) error {
	if raw[0] == '"' {
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return err
		}
		*b = text(s)
		return nil
	}
	var in inBase64
	if err := strictly(raw, &in); err != nil || in.Base64 == nil {
		return errors.New(`bytes must be a string or {"base64": …}`)
	}
	*b = *in.Base64
	return nil
}

// strictly decodes JSON and rejects unknown fields and trailing data.
func strictly(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is data after the JSON value")
	}
	return nil
}

// header is the first line.
type header struct {
	Table    string            `json:"table"`
	Values   map[string]string `json:"values,omitempty"`
	Config   map[string]string `json:"config,omitempty"`
	Families []family          `json:"families"`
	Splits   []text            `json:"splits,omitempty"`
}

type family struct {
	Name   string            `json:"name"`
	Values map[string]string `json:"values,omitempty"`
	Config map[string]string `json:"config,omitempty"`
}

func (h *header) described() (hbase.Table, [][]byte) {
	t := hbase.Table{Name: h.Table, Values: h.Values, Config: h.Config}
	for _, f := range h.Families {
		t.Families = append(t.Families, hbase.Family(f))
	}
	var splits [][]byte
	for _, s := range h.Splits {
		splits = append(splits, s)
	}
	return t, splits
}

// cell is one of the further lines. Its pointer fields are required.
type cell struct {
	Row       *text  `json:"row"`
	Family    *text  `json:"family"`
	Qualifier *text  `json:"qualifier"`
	Timestamp *int64 `json:"timestamp"`
	Type      string `json:"type"`
	Value     *text  `json:"value,omitempty"`
}

var types = map[hbase.CellType]string{
	hbase.Put: "put", hbase.Delete: "delete", hbase.DeleteColumn: "delete-column", hbase.DeleteFamily: "delete-family",
	hbase.DeleteFamilyVersion: "delete-family-version",
}

var typesByName = func() map[string]hbase.CellType {
	all := make(map[string]hbase.CellType, len(types))
	for t, name := range types {
		all[name] = t
	}
	return all
}()

// parseCell decodes a line. A delete marker need not have a value.
func parseCell(line []byte) (c cell, kind hbase.CellType, err error) {
	if err := strictly(line, &c); err != nil {
		return c, 0, err
	}
	kind, known := typesByName[c.Type]
	switch {
	case !known:
		return c, 0, fmt.Errorf("type %q is not put, delete, delete-column, delete-family or delete-family-version", c.Type)
	case c.Row == nil || c.Family == nil || c.Qualifier == nil || c.Timestamp == nil || kind == hbase.Put && c.Value == nil:
		return c, 0, errors.New("a cell needs row, family, qualifier, timestamp, type and value")
	case *c.Timestamp < 0:
		return c, 0, errors.New("timestamp is less than 0")
	case kind != hbase.Put && c.Value != nil && len(*c.Value) > 0:
		return c, 0, errors.New("a delete marker cannot have a value")
	}
	return c, kind, nil
}

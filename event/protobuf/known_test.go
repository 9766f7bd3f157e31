package protobuf

import (
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"brine/event"
)

// amount is a message with a decimal as Kafka Connect's converter declares it.
func amount(t *testing.T) *Message {
	t.Helper()
	file := filepath.Join(t.TempDir(), "amount.proto")
	const text = `syntax = "proto3"; import "confluent/type/decimal.proto"; message Amount { confluent.type.Decimal total = 1; }`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := CompileFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return s.Message("Amount")
}

// decimalOf returns a value of amount. unscaled is what Java's BigInteger.toByteArray returns.
func decimalOf(t *testing.T, m *Message, unscaled []byte, scale int32) []byte {
	t.Helper()
	d := dynamicpb.NewMessage(m.desc)
	total := m.desc.Fields().ByName("total")
	of := d.Mutable(total).Message()
	of.Set(total.Message().Fields().ByName("value"), protoreflect.ValueOfBytes(unscaled))
	of.Set(total.Message().Fields().ByName("precision"), protoreflect.ValueOfUint32(38))
	of.Set(total.Message().Fields().ByName("scale"), protoreflect.ValueOfInt32(scale))
	b, err := proto.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDecimalsOfConnect(t *testing.T) {
	m := amount(t)
	largest, _ := new(big.Int).SetString(strings.Repeat("9", 38), 10)
	for _, c := range []struct {
		unscaled []byte
		scale    int32
		want     string // or the reject
	}{
		{[]byte{0x04, 0xd2}, 2, "12.34"},
		{[]byte{0xff}, 2, "-0.01"},
		{[]byte{0}, 2, "0.00"},
		{[]byte{0x80}, 0, "-128"},
		{[]byte{0, 0, 0, 0x80}, 1, "12.8"},
		{largest.Bytes(), 0, largest.String()},
		{largest.Bytes(), 38, "0." + largest.String()},
		{new(big.Int).Add(largest, big.NewInt(1)).Bytes(), 0, "wrong_type: field total: the decimal has more than 38 digits"},
		{[]byte{1}, -1, "wrong_type: field total: the decimal has more than 38 digits"},
		{nil, 2, "wrong_type: field total: a decimal without digits"},
	} {
		value := decimalOf(t, m, c.unscaled, c.scale)
		for _, typ := range []string{"decimal", "number"} {
			fields, got := declare(t, "total "+typ), ""
			d, b := event.NewDecoder(event.Schema{Fields: fields, Version: -1, Format: m}), new(event.Batch)
			if err := d.Decode(&event.Record{Value: value, Timestamp: 1e12}, b); err != nil {
				got = err.Error()
			} else {
				got = string(b.Events[0].Values[0].Text())
			}
			if got != c.want {
				t.Errorf("%s: %x of scale %d: %s, expected %s", typ, c.unscaled, c.scale, got, c.want)
			}
		}
	}
	value := decimalOf(t, m, []byte{0x04, 0xd2}, 2)
	for fields, want := range map[string]string{
		"total float": `total=12.34`, "total json": `total={"value":"BNI=","precision":38,"scale":2}`,
		"scale int total.scale\nmost int total.precision": `scale=2 most=38`,
	} {
		if got := read(m, declare(t, fields), value); got != want {
			t.Errorf("%s: %s, expected %s", fields, got, want)
		}
	}
	if got := read(m, declare(t, "total decimal"), nil); got != "undecodable: the record has no value: it is a tombstone, which deletes its key in a compacted topic" {
		t.Errorf("no value: %s", got)
	}
	if got := read(m, declare(t, "total decimal"), []byte{}); got != "total=-" {
		t.Errorf("absent: %s", got)
	}
	if fields := m.Fields(); len(fields) != 1 || fields[0].Type != event.Decimal {
		t.Errorf("proposed: %+v", fields)
	}
	if misfits := m.Check(declare(t, "total text")); len(misfits) != 1 || !strings.Contains(misfits[0].Fix, "{ type: text, from: number }") {
		t.Errorf("declared text: %+v", misfits)
	}
}

package datadir

import (
	"bytes"
	"testing"
)

func FuzzInventory(f *testing.F) {
	f.Add(encode(nil))
	f.Add(encode([]item{{sum: 1, size: 2, name: "a b\n\"c\""}, {name: "x/y"}}))
	f.Add([]byte("end "))
	f.Fuzz(func(t *testing.T, text []byte) {
		items, ok := decode(text)
		if !ok {
			return
		}
		if again, ok := decode(encode(items)); !ok || len(again) != len(items) {
			t.Errorf("%v, and then %v", items, again)
		}
	})
}

// TestInventoryReadsBack: any name is decoded as it was encoded.
func TestInventoryReadsBack(t *testing.T) {
	items := []item{{sum: 0xFFFFFFFF, size: 1 << 40, name: "a b\n\"c\"é"}, {name: "x/y"}}
	got, ok := decode(encode(items))
	if !ok || len(got) != 2 || got[0] != items[0] || got[1] != items[1] {
		t.Errorf("%v", got)
	}
	if _, ok := decode(bytes.TrimSuffix(encode(items), []byte("\n"))); ok {
		t.Error("one without its last byte passes")
	}
}

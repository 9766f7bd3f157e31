package indexertest

import (
	"errors"
	"testing"

	"brine/indexer"
	"brine/search"
)

func testShown(t *testing.T, e indexer.Engine) {
	name := newIndex(t, e)
	shown := func(index, id string) (int64, error) {
		return e.Shown(deadline(t), indexer.Ref{Index: index, ID: []byte(id)})
	}
	load(t, e, put(name, `a \x00"`, 5, ""), put(name, "b", 9007199254740993, `"deleted":true`), put(name, "c", 3, ""))
	load(t, e, put(name, "c", 4, ""))
	if err := e.Refresh(deadline(t), name); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]int64{`a \x00"`: 5, "b": 9007199254740993, "c": 4, "d": -1} {
		if got, err := shown(name, id); got != want || err != nil {
			t.Errorf("%s is shown in version %d, error %v; want %d", id, got, err, want)
		}
	}
	if _, err := shown(newName(), "a"); !errors.Is(err, search.ErrNoIndex) {
		t.Errorf("of no index: error %v", err)
	}
}

package rowkey

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Keys holds the keys of a table in ascending order. Each applies to events whose version is at least its From and below the next key's.
// The first From is 0. Most tables have one key.
type Keys []KeyFrom

// KeyFrom is a key and the first version whose events have it.
type KeyFrom struct {
	From int64
	Key  *Key
}

// One returns the keys of a table that has always had the same one.
func One(k *Key) Keys { return Keys{{Key: k}} }

// Validate reports what is wrong with the list.
func (ks Keys) Validate() error {
	if len(ks) == 0 || ks[0].Key == nil {
		return errors.New("it has no key")
	}
	if ks[0].From != 0 {
		return fmt.Errorf("its first key applies from version %d on, so older events have none; write from 0", ks[0].From)
	}
	for i, k := range ks[1:] {
		if k.Key == nil || k.From <= ks[i].From {
			return fmt.Errorf("the key from version %d on comes after the one from version %d on; list them in ascending order, each with its key",
				k.From,
				ks[i].From)
		}
	}
	return nil
}

// At returns the index of the key for events of this version.
func (ks Keys) At(version int64) int {
	i := len(ks) - 1
	for i > 0 && version < ks[i].From {
		i--
	}
	return i
}

// First returns the key of the oldest events, or nil if there are no keys.
func (ks Keys) First() *Key {
	if len(ks) == 0 {
		return nil
	}
	return ks[0].Key
}

// Newest returns the key of the newest events, which new rows have, or nil if there are no keys.
func (ks Keys) Newest() *Key {
	if len(ks) == 0 {
		return nil
	}
	return ks[len(ks)-1].Key
}

// Fields returns the names that any of the keys reads, those of the first key first.
func (ks Keys) Fields() []string {
	var all []string
	for _, k := range ks {
		for _, name := range k.Key.Fields() {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// Bindable returns the fields on which any of the keys accepts bounds.
func (ks Keys) Bindable() []Field {
	var all []Field
	for _, k := range ks {
		for _, f := range k.Key.Bindable() {
			if !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
	}
	return all
}

// Field returns a field on which any of the keys accepts bounds, and false if none does.
func (ks Keys) Field(name string) (Field, bool) {
	for i := len(ks) - 1; i >= 0; i-- {
		for _, f := range ks[i].Key.Bindable() {
			if f.Name == name {
				return f, true
			}
		}
	}
	return Field{}, false
}

// Salt returns the salt that all of the keys begin with, or the zero Salt if they do not begin with the same one.
func (ks Keys) Salt() Salt {
	if len(ks) == 0 {
		return Salt{}
	}
	salt := ks[0].Key.Salt()
	for _, k := range ks[1:] {
		if k.Key.Salt() != salt {
			return Salt{}
		}
	}
	return salt
}

// Fit returns the newest key that could have made row. If none could, it returns the newest key for which row looks like the beginning of
// one of its rows, as the start keys of regions do. It returns nil if no key fits. Bytes alone are ambiguous: two keys can make the same
// ones.
func (ks Keys) Fit(row []byte) *Key {
	for _, fits := range []func(*Key, []byte) bool{(*Key).makes, (*Key).begins} {
		for i := len(ks) - 1; i >= 0; i-- {
			if fits(ks[i].Key, row) {
				return ks[i].Key
			}
		}
	}
	return nil
}

// Versions returns the versions of the key's events, from inclusive and to exclusive. Both are 0 if the table has only this key, which then
// has all versions.
func (ks Keys) Versions(i int) (from, to int64) {
	if len(ks) == 1 {
		return 0, 0
	}
	if i+1 < len(ks) {
		return ks[i].From, ks[i+1].From
	}
	return ks[i].From, math.MaxInt64
}

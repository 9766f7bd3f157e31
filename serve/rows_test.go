package serve

import (
	"testing"

	"brine/event"
	"brine/query"
)

// TestRowsAreWrittenByName checks that fields are in the order of their names, that the first value of two fields of one name counts, and that
// rows with other fields than the row before are written right.
func TestRowsAreWrittenByName(t *testing.T) {
	field := func(name, text string) query.Field { return query.Field{Name: name, Value: event.TextValue(text)} }
	var text rowText
	for _, c := range []struct {
		fields []query.Field
		want   string
	}{
		{[]query.Field{field("b", "1"), field("a", "2")}, `{"a":"2","b":"1"}`},
		{[]query.Field{field("b", "3"), field("a", "4")}, `{"a":"4","b":"3"}`},
		{[]query.Field{{Name: "b"}, field("a", "5"), field("b", "6")}, `{"a":"5","b":"6"}`},
		{[]query.Field{field("b", "6"), field("a", "5"), {Name: "b"}}, `{"a":"5","b":"6"}`},
		{[]query.Field{field("b", "6"), field("a", "5"), field("b", "7")}, `{"a":"5","b":"6"}`},
		{[]query.Field{field("a", "7")}, `{"a":"7"}`},
		{nil, `{}`},
	} {
		f := query.Found{Row: query.Row{Key: []byte("k\\\xff"), Version: 9, StateVersion: 8, Fields: c.fields}, State: query.NoRow}
		got := string(text.append(nil, nil, &f))
		want := `{"row":"k\\x5C\\xFF","version":9,"state_version":8,"state":"not in HBase","fields":` + c.want + `}`
		if got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}

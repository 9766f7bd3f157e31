package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"brine/event"
)

// write encodes a change, and checks that it decodes to what it means.
func (m *Machine) write(change *Change, fields map[string]event.Value, now int64) error {
	object := map[string]any{}
	for i := range m.Schema.Fields {
		f := &m.Schema.Fields[i]
		v := fields[f.Name]
		if v.Null() || !f.Const.Null() {
			continue
		}
		text, err := written(f, v)
		if err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
		put(object, f.Keys(), text)
	}
	var err error
	if change.Value, err = json.Marshal(object); err != nil { // members are sorted by name, so that the same change is the same bytes
		return err
	}
	if key := fields[m.RecordKey]; !key.Null() {
		change.Key = keyText(key)
	}
	return m.check(change, fields, now)
}

// put sets the value at a path of an object.
func put(object map[string]any, path []string, v any) {
	for _, key := range path[:len(path)-1] {
		below, ok := object[key].(map[string]any)
		if !ok {
			below = map[string]any{}
			object[key] = below
		}
		object = below
	}
	object[path[len(path)-1]] = v
}

// written returns a value in the form that records have.
func written(f *event.Field, v event.Value) (any, error) {
	switch f.Type {
	case event.Text:
		return string(v.Text()), nil
	case event.Nested:
		return json.RawMessage(v.Text()), nil
	case event.Float:
		if x := v.Float(); math.IsInf(x, 0) || math.IsNaN(x) {
			return nil, errors.New("JSON cannot represent this number")
		}
		return v.Float(), nil
	case event.Bool:
		return v.Bool(), nil
	case event.Int, event.TimeMS:
		return v.Int(), nil
	case event.TimeS:
		return v.Int() / 1000, nil
	case event.TimeUS, event.TimeNS, event.Date:
		return v.Int(), nil
	case event.Decimal:
		return json.RawMessage(v.Text()), nil
	case event.Bytes:
		text, _ := v.Textual()
		return text, nil
	}
	switch f.Format {
	case "", event.RFC3339:
		return time.UnixMilli(v.Int()).UTC().Format("2006-01-02T15:04:05.000Z"), nil
	case "epoch_ms":
		return v.Int(), nil
	}
	return nil, fmt.Errorf("a time as %s cannot be written", f.Format)
}

// Writes returns nil if changes can hold a field, or else the reason why they cannot.
func Writes(f *event.Field) error {
	switch {
	case f.Made:
		return errors.New("an expression makes it")
	case f.Place != event.InValue:
		return errors.New("it is outside the record's value")
	case f.Decimal, f.Convert.Case != event.AnyCase, f.Convert.Enum != nil:
		return errors.New("records hold it in a form that is converted one way only")
	case f.Type == event.Time && f.Format != "" && f.Format != event.RFC3339 && f.Format != "epoch_ms":
		return errors.New("its times are written as " + f.Format)
	}
	return nil
}

func keyText(v event.Value) []byte {
	switch v.Type {
	case event.Int, event.TimeMS, event.TimeUS, event.TimeNS, event.Date:
		return strconv.AppendInt(nil, v.Int(), 10)
	}
	return slices.Clone(v.Text())
}

// check decodes a change as the pipeline will. It refuses a command that would become a dead letter, or whose change would have another
// meaning.
func (m *Machine) check(change *Change, fields map[string]event.Value, now int64) error {
	var b event.Batch
	rec := event.Record{Topic: m.Topic, Timestamp: now, Key: change.Key, Value: change.Value}
	if err := event.NewDecoder(m.Schema).Decode(&rec, &b); err != nil {
		return fmt.Errorf("the pipeline would refuse the change: %w", err)
	}
	e := &b.Events[0]
	if len(b.Events) != 1 || e.LeftOut != "" || e.Version != change.At {
		return errors.New("the pipeline would not write the change, or not at its version")
	}
	for i := range m.Schema.Fields {
		f := &m.Schema.Fields[i]
		if want := fields[f.Name]; !want.Null() && f.Const.Null() && !e.Values[i].Equal(want) {
			return fmt.Errorf("the pipeline would read another value of field %s", f.Name)
		}
	}
	return nil
}

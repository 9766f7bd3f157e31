package propose

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"brine/event"
	"brine/registry"
)

// containers are the first bytes of what holds many values, or compressed ones, and which is therefore no record that a pipeline reads.
var containers = []struct{ begins, name, fix string }{
	{"Obj\x01", "an Avro object container file",
		"a pipeline reads one value of Avro per record: let the publisher write values without a container"},
	{"PAR1", "a Parquet file", "let the publisher write one record per row"},
	{"\x1f\x8b", "compressed by gzip", "let Kafka compress (the producer's compression.type) instead of the publisher"},
	{"\x28\xb5\x2f\xfd", "compressed by zstd", "let Kafka compress (the producer's compression.type) instead of the publisher"},
}

// first returns the first record with a value, or nil.
func first(raw []event.Record) *event.Record {
	at := slices.IndexFunc(raw, func(r event.Record) bool { return len(r.Value) > 0 })
	if at < 0 {
		return nil
	}
	return &raw[at]
}

// container returns the error for records that begin as what is no record does, or nil.
func (o *Options) container(raw []event.Record) error {
	rec := first(raw)
	for _, c := range containers {
		switch {
		case rec == nil || !bytes.HasPrefix(rec.Value, []byte(c.begins)):
		case !o.Keyed:
			return fmt.Errorf("%w: %s is %s; a sample is JSON lines or CSV, also gzipped as FILE.gz, or an Avro object container file that is "+
				"not gzipped, so convert it, or take the sample from a topic", ErrSample, o.Source, c.name)
		default:
			return fmt.Errorf("%w: the first record of %s is %s; %s", ErrSample, o.Source, c.name, c.fix)
		}
	}
	return nil
}

// seen describes the first value of records that nothing was recognized in, and what to do; empty: there is nothing to say.
func (o *Options) seen(raw []event.Record) string {
	rec := first(raw)
	if rec == nil {
		return ""
	}
	if utf8.Valid(rec.Value) && bytes.IndexFunc(rec.Value, unicode.IsControl) < 0 {
		return ": the first is the text " + quotedText(rec.Value) +
			"; if texts are to be written as they are, use format: raw, see docs/formats.md"
	}
	if !o.Keyed {
		return ": the first begins with the bytes " + beginning(rec.Value) + "; a sample is JSON lines or CSV, so take the sample from a topic"
	}
	if o.Registry == nil {
		for _, framing := range registry.Framings {
			framed, err := framing.Of(rec, registry.Value)
			if framed.InHeader || err == nil && framing == registry.Confluent {
				return ": the first names its schema, " + framed.ID.String() + "; give the registry's address with --registry"
			}
		}
	}
	if rec.Value[0] == 3 {
		if _, err := registry.Confluent.Of(rec, registry.Value); err != nil && strings.Contains(err.Detail, "Glue") {
			return ": " + err.Detail
		}
	}
	return ": the first begins with the bytes " + beginning(rec.Value) + "; if it is Avro or Protobuf, give the schema with --schema, " +
		"otherwise use format: raw, see docs/formats.md"
}

// beginning returns the first bytes of a value in hexadecimal.
func beginning(value []byte) string { return fmt.Sprintf("%x", value[:min(len(value), 8)]) }

// quotedText returns the beginning of a text in quotes.
func quotedText(value []byte) string {
	const most = 40
	text := []rune(string(value))
	if len(text) > most {
		text = append(text[:most:most], '…')
	}
	return strconv.QuoteToGraphic(string(text))
}

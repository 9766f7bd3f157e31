package embedded

import (
	"fmt"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/document"
	"github.com/blevesearch/bleve/v2/numeric"
	index "github.com/blevesearch/bleve_index_api"
	"github.com/valyala/fastjson"

	"brine/indexer"
)

// fieldSource is the only stored field: a document's header and JSON.
const fieldSource = "_source"

// maxKeyword is the maximum length of a keyword in bytes (Lucene's longest term).
const maxKeyword = 32_766

// doc is a document ready to be indexed, except for the header of its stored form.
type doc struct {
	*document.Document
	stored []byte
}

// newDoc returns a document made from an operation's JSON. It returns an error if the JSON does not fit the mapping.
func newDoc(parser *fastjson.Parser, m *indexer.Mapping, analyzer analysis.Analyzer, o *indexer.Op) (*doc, error) {
	v, err := parser.ParseBytes(o.Source)
	if err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	fields, err := v.Object()
	if err != nil {
		return nil, fmt.Errorf("not a JSON object: %w", err)
	}
	d := &doc{Document: document.NewDocument(string(o.ID)), stored: make([]byte, headerSize, headerSize+len(o.Source))}
	d.stored = append(d.stored, o.Source...)
	d.AddField(document.NewTextFieldWithIndexingOptions(fieldSource, nil, d.stored, index.StoreField))
	fields.Visit(func(key []byte, v *fastjson.Value) {
		if err != nil || v.Type() == fastjson.TypeNull {
			return
		}
		switch string(key) {
		case indexer.FieldRow, indexer.FieldKey, indexer.FieldVersion, indexer.FieldVersions:
			return // only stored
		}
		err = d.add(m.Type(string(key)), string(key), v, analyzer)
	})
	return d, err
}

func (d *doc) add(t indexer.Type, name string, v *fastjson.Value, analyzer analysis.Analyzer) error {
	refused := func(why string) error { return fmt.Errorf("field %s: %s", name, why) }
	switch t {
	case indexer.Keyword, indexer.Text:
		text, err := v.StringBytes()
		if err != nil {
			return refused("a JSON " + v.Type().String() + " in a " + string(t) + " field")
		}
		if t == indexer.Keyword && len(text) > maxKeyword {
			return refused(fmt.Sprintf("a keyword of %d bytes is longer than %d", len(text), maxKeyword))
		}
		d.addText(t, name, append([]byte(nil), text...), analyzer) // a copy: the parser reuses its memory
	case indexer.Boolean:
		b, err := v.Bool()
		if err != nil {
			return refused("a JSON " + v.Type().String() + " in a boolean field")
		}
		d.addText(indexer.Keyword, name, boolTerm(b), nil)
	case indexer.Long, indexer.Date:
		i, err := v.Int64()
		if err != nil {
			return refused("not an integer in a " + string(t) + " field: " + v.String())
		}
		d.addText(indexer.Keyword, name, numberTerm(i), nil)
	case indexer.Double:
		f, err := v.Float64()
		if err != nil {
			return refused("a JSON " + v.Type().String() + " in a double field")
		}
		d.addText(indexer.Keyword, name, numberTerm(f), nil)
	default:
		return refused("is not in the index's mapping")
	}
	return nil
}

func (d *doc) addText(t indexer.Type, name string, text []byte, analyzer analysis.Analyzer) {
	if t == indexer.Text {
		d.AddField(document.NewTextFieldCustom(name, nil, text, index.IndexField, analyzer))
		return
	}
	d.AddField(document.NewTextFieldCustom(name, nil, text, index.IndexField|index.DocValues|index.SkipFreqNorm, nil))
}

func boolTerm(b bool) []byte {
	if b {
		return []byte("true")
	}
	return []byte("false")
}

// numberTerm returns the only term that a number is indexed as. Its bytes sort as the numbers do, with 7 bits in each, because 0xFF
// separates the values of a document. Bleve's own numeric fields have 16 terms, for ranges, which made up four fifths of the cost of a
// document. They are also floats, which lose the last digits of a long.
func numberTerm(v any) []byte {
	var ordinal int64
	switch v := v.(type) {
	case int64:
		ordinal = v
	case float64:
		ordinal = numeric.Float64ToInt64(v + 0) // + 0 turns −0 into 0
	default:
		panic(fmt.Sprintf("BUG: a number of type %T", v))
	}
	return numeric.MustNewPrefixCodedInt64(ordinal, 0)
}

// termOf returns the term that a value of a query is indexed as.
func termOf(v any) []byte {
	switch v := v.(type) {
	case string:
		return []byte(v)
	case bool:
		return boolTerm(v)
	default:
		return numberTerm(v)
	}
}

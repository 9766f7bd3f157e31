package explain

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"brine/event"
	"brine/indexer"
	"brine/search"
)

// writeDocuments adds the documents that the event writes.
func (w *writes) writeDocuments(ctx context.Context, ev *event.Event, out *Event) error {
	var list []indexer.Change
	failure := w.documents.Changes(ev, func(c indexer.Change) { list = append(list, c) })
	if failure != nil {
		out.Rejected = append(out.Rejected, *w.source.rejected(Documents, failure.Reason, failure.Err))
		return nil
	}
	for i := range list {
		doc, err := w.document(ctx, &list[i], ev.Version)
		if err != nil {
			return err
		}
		out.Documents = append(out.Documents, *doc)
	}
	return nil
}

// document compares a change with the document in the index.
func (w *writes) document(ctx context.Context, c *indexer.Change, version int64) (*Document, error) {
	ref := indexer.Ref{Index: c.In(w.opts.Engine), ID: c.ID}
	out := &Document{Index: c.Index, ID: string(c.ID), Whole: c.Whole, Fields: []DocumentField{}}
	if ref.Index != c.Index {
		out.Part = ref.Index
	}
	var stored [1]indexer.Stored
	err := w.opts.Engine.Get(ctx, []indexer.Ref{ref}, stored[:])
	switch {
	case errors.Is(err, search.ErrNoIndex):
		out.Problem = "the index does not exist"
	case err != nil:
		return nil, err
	}
	out.Found = stored[0].Found
	var found []indexer.FieldValue
	newest := int64(-1)
	if out.Found {
		if found, err = indexer.Fields(stored[0].Source); err != nil {
			return nil, err
		}
		if newest, err = indexer.VersionOf(stored[0].Source); err != nil {
			return nil, err
		}
	}
	for _, f := range c.Fields {
		field := DocumentField{Name: f.Name, Value: bytes.Clone(f.JSON), Version: f.Version}
		i := slices.IndexFunc(found, func(v indexer.FieldValue) bool { return v.Name == f.Name })
		switch {
		case out.Problem != "":
		case i >= 0:
			if field.State = stateOf(found[i].Version, f.Version, bytes.Equal(found[i].JSON, f.JSON)); field.State != Same {
				field.Now, field.At = bytes.Clone(found[i].JSON), &found[i].Version
			}
		case c.Whole && newest > version:
			field.State = Newer // the document was replaced
		default:
			field.State = Missing
		}
		out.Fields = append(out.Fields, field)
	}
	return out, nil
}

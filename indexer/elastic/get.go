package elastic

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/valyala/fastjson"

	"brine/indexer"
)

// Get implements indexer.Engine. A document that the server could not read counts as absent: creating it then shows the reason, and never
// overwrites.
func (e *Engine) Get(ctx context.Context, refs []indexer.Ref, docs []indexer.Stored) error {
	known := e.knownRouters()
	unrouted, err := e.get(ctx, known, refs, docs)
	if err != nil || len(unrouted) == 0 {
		return err
	}
	again, err := e.learnRouters(ctx, known, unrouted, func(i int) string { return refs[i].Index })
	if err != nil {
		return err
	}
	return askAgain(again, refs, docs, func(some []indexer.Ref, found []indexer.Stored) error {
		_, err := e.get(ctx, e.knownRouters(), some, found)
		return err
	})
}

// get returns the indexes of those refs that the server does not read without a routing.
func (e *Engine) get(ctx context.Context, known routers, refs []indexer.Ref, docs []indexer.Stored) (unrouted []int, err error) {
	text := e.buffer()
	text.WriteString(`{"docs":[`)
	for i, ref := range refs {
		routing := known.of(ref.Index, ref.ID)
		text.Grow(2*len(ref.ID) + len(ref.Index) + len(routing) + 48)
		line := text.AvailableBuffer()
		if i > 0 {
			line = append(line, ',')
		}
		line = append(line, `{"_index":"`...)
		line = append(line, ref.Index...)
		line = append(line, `","_id":"`...)
		line = appendASCII(line, ref.ID)
		if routing != "" {
			line = append(line, `","routing":"`...)
			line = append(line, routing...)
		}
		text.Write(append(line, `"}`...))
	}
	text.WriteString(`]}`)
	answer := e.buffer()
	defer e.buffers.Put(answer)
	if err := e.do(ctx, "POST", "/_mget", typeJSON, e.body(text), text.Len(), readAll(answer)); err != nil {
		return nil, err
	}
	parser := e.parsers.Get().(*fastjson.Parser)
	defer e.parsers.Put(parser)
	parted, unrouted, err := readDocs(parser, answer.Bytes(), refs, docs)
	if err != nil || len(parted) == 0 {
		return unrouted, err
	}
	return unrouted, e.find(ctx, parted, refs, docs)
}

// readDocs sets docs from the answer. It returns the indexes of refs to an index with parts, because only a part returns documents by their
// ids, and of those that are not read without a routing.
func readDocs(p *fastjson.Parser, answer []byte, refs []indexer.Ref, docs []indexer.Stored) (parted, unrouted []int, err error) {
	v, err := p.ParseBytes(answer)
	if err != nil {
		return nil, nil, fmt.Errorf("damaged or cut off: %w", err)
	}
	list := v.GetArray("docs")
	if len(list) != len(refs) {
		return nil, nil, fmt.Errorf("%d documents for %d requested", len(list), len(refs))
	}
	var sources []byte // of all documents
	for i, doc := range list {
		if !bytes.Equal(doc.GetStringBytes("_id"), refs[i].ID) {
			return nil, nil, fmt.Errorf("document %d of %d is not the one that was requested", i+1, len(refs)) // ids may be masked
		}
		switch string(doc.GetStringBytes("error", "type")) {
		case "illegal_argument_exception":
			parted = append(parted, i)
		case routingMissing:
			unrouted = append(unrouted, i)
		}
		docs[i] = indexer.Stored{Found: doc.GetBool("found"), Version: doc.GetInt64("_version"), SeqNo: doc.GetInt64("_seq_no"),
			PrimaryTerm: doc.GetInt64("_primary_term")}
		if source := doc.Get("_source"); docs[i].Found && source != nil {
			from := len(sources)
			sources = source.MarshalTo(sources)
			docs[i].Source = sources[from:len(sources):len(sources)]
		}
	}
	return parted, unrouted, nil
}

// find reads documents of indexes with parts by searching all parts of each index.
func (e *Engine) find(ctx context.Context, places []int, refs []indexer.Ref, docs []indexer.Stored) error {
	byIndex := map[string]map[string]int{}
	for _, i := range places {
		if byIndex[refs[i].Index] == nil {
			byIndex[refs[i].Index] = map[string]int{}
		}
		byIndex[refs[i].Index][string(refs[i].ID)] = i
	}
	for index, place := range byIndex {
		if err := e.Refresh(ctx, index); err != nil {
			return err
		}
		ids := slices.Sorted(maps.Keys(place))
		for chunk := range slices.Chunk(ids, 1000) {
			if err := e.findChunk(ctx, index, chunk, place, docs); err != nil {
				return fmt.Errorf("read documents of index %s: %w", index, err)
			}
		}
	}
	return nil
}

func (e *Engine) findChunk(ctx context.Context, index string, ids []string, place map[string]int, docs []indexer.Stored) error {
	var a struct {
		answer
		Hits struct {
			Hits []struct {
				ID          string          `json:"_id"`
				Source      json.RawMessage `json:"_source"`
				Version     int64           `json:"_version"`
				SeqNo       int64           `json:"_seq_no"`
				PrimaryTerm int64           `json:"_primary_term"`
			} `json:"hits"`
		} `json:"hits"`
	}
	request := object{"query": object{"ids": object{"values": ids}}, "size": len(ids), "version": true, "seq_no_primary_term": true}
	if err := e.json(ctx, "POST", "/"+index+"/_search", request, &a); err != nil {
		return err
	}
	if a.TimedOut || a.Shards.Failed > 0 {
		return fmt.Errorf("%d of its shards did not answer", a.Shards.Failed)
	}
	for _, h := range a.Hits.Hits {
		docs[place[h.ID]] = indexer.Stored{Found: true, Source: h.Source, Version: h.Version, SeqNo: h.SeqNo, PrimaryTerm: h.PrimaryTerm}
	}
	return nil
}

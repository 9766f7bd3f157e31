package elastic

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"github.com/valyala/fastjson"

	"brine/indexer"
)

func newParser() any { return new(fastjson.Parser) }

// bulkPath requests only those parts of the answer that are read. Without require_alias the server would create an index with a mapping of
// its own for an unknown name.
const bulkPath = "/_bulk?require_alias=true&filter_path=" +
	"items.*._id,items.*.status,items.*.error.type,items.*.error.reason,items.*.error.caused_by.reason"

// mergePath also requests what the next Replace has to name.
const mergePath = bulkPath + ",items.*._index,items.*._seq_no,items.*._primary_term"

// Bulk implements indexer.Engine.
func (e *Engine) Bulk(ctx context.Context, ops []indexer.Op, results []indexer.Result) error {
	known := e.knownRouters()
	if err := e.bulk(ctx, known, ops, results); err != nil {
		return err
	}
	return e.routeBulk(ctx, known, ops, results)
}

func (e *Engine) bulk(ctx context.Context, known routers, ops []indexer.Op, results []indexer.Result) error {
	text, path := e.buffer(), bulkPath
	for i := range ops {
		appendOp(text, &ops[i], known.of(ops[i].Index, ops[i].ID))
		if ops[i].Kind != indexer.Put {
			path = mergePath
		}
	}
	answer := e.buffer()
	defer e.buffers.Put(answer)
	if err := e.do(ctx, "POST", path, typeNDJSON, e.body(text), text.Len(), readAll(answer)); err != nil {
		return err
	}
	parser := e.parsers.Get().(*fastjson.Parser)
	defer e.parsers.Put(parser)
	return readItems(parser, answer.Bytes(), ops, results)
}

func (e *Engine) buffer() *bytes.Buffer {
	b := e.buffers.Get().(*bytes.Buffer)
	b.Reset()
	return b
}

// body is a pooled buffer as a request's body. http.Transport may still read it after the call has returned, and closes it; over HTTP/2 it
// may even read it after that. So Close returns the buffer to the pool, and later reads do not see it.
type body struct {
	pool *sync.Pool
	mu   sync.Mutex
	text *bytes.Buffer // nil once it is in the pool
}

func (e *Engine) body(text *bytes.Buffer) *body { return &body{pool: &e.buffers, text: text} }

func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.text == nil {
		return 0, http.ErrBodyReadAfterClose
	}
	return b.text.Read(p)
}

func (b *body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.text != nil {
		b.pool.Put(b.text)
		b.text = nil
	}
	return nil
}

// appendOp writes the two lines of one operation, or the only line of a Delete.
func appendOp(b *bytes.Buffer, o *indexer.Op, routing string) {
	b.Grow(len(o.Source) + 2*len(o.ID) + len(o.Index) + len(routing) + 144)
	line := b.AvailableBuffer()
	switch o.Kind {
	case indexer.Create:
		line = append(line, `{"create":{"_index":"`...)
	case indexer.Delete:
		line = append(line, `{"delete":{"_index":"`...)
	default:
		line = append(line, `{"index":{"_index":"`...)
	}
	line = append(line, o.Index...) // a valid name needs no escapes
	line = append(line, `","_id":"`...)
	line = appendASCII(line, o.ID)
	if routing != "" {
		line = append(line, `","routing":"`...)
		line = append(line, routing...) // it needs no escapes
	}
	switch o.Kind {
	case indexer.Put:
		line = append(line, `","version_type":"external_gte","version":`...)
		line = strconv.AppendInt(line, o.Version, 10)
	case indexer.Replace, indexer.Delete:
		line = append(line, `","if_seq_no":`...)
		line = strconv.AppendInt(line, o.SeqNo, 10)
		line = append(line, `,"if_primary_term":`...)
		line = strconv.AppendInt(line, o.PrimaryTerm, 10)
	default:
		line = append(line, '"')
	}
	line = append(line, "}}\n"...)
	if o.Kind == indexer.Delete {
		b.Write(line)
		return
	}
	line = append(line, o.Source...)
	b.Write(append(line, '\n'))
}

// appendASCII appends an id, which is printable ASCII, as the contents of a JSON string.
func appendASCII(dst, s []byte) []byte {
	for _, c := range s {
		if c == '"' || c == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
	}
	return dst
}

// readItems sets results from the answer for ops. If an item is missing or has another id, the outcomes of it and of all that follow stay
// unknown.
func readItems(p *fastjson.Parser, answer []byte, ops []indexer.Op, results []indexer.Result) error {
	v, err := p.ParseBytes(answer)
	if err != nil {
		return fmt.Errorf("damaged or cut off: %w", err)
	}
	items := v.GetArray("items")
	if len(items) > len(ops) {
		return fmt.Errorf("%d items for %d documents", len(items), len(ops))
	}
	home := ""
	for i := range ops {
		results[i] = indexer.Result{Reason: "the answer has no result for it"}
		if i >= len(items) {
			continue
		}
		var item *fastjson.Value
		for _, kind := range []string{"index", "create", "delete"} {
			if item = items[i].Get(kind); item != nil {
				break
			}
		}
		if !bytes.Equal(item.GetStringBytes("_id"), ops[i].ID) {
			items = items[:i]
			continue
		}
		if name := item.GetStringBytes("_index"); string(name) != home {
			home = string(name)
		}
		results[i] = indexer.Result{Status: item.GetInt("status"), SeqNo: item.GetInt64("_seq_no"),
			PrimaryTerm: item.GetInt64("_primary_term"), Home: home}
		if fault := item.Get("error"); fault != nil {
			results[i].Kind, results[i].Reason = string(fault.GetStringBytes("type")), string(fault.GetStringBytes("reason"))
			if why := fault.GetStringBytes("caused_by", "reason"); len(why) > 0 {
				results[i].Reason += ": " + string(why)
			}
		}
	}
	return nil
}

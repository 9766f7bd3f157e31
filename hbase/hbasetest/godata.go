package hbasetest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"brine/hbase"
)

func batchOf(table string, more [][]string) (*hbase.Batch, error) {
	b := hbase.NewBatch(table)
	for _, words := range more {
		if err := add(b, words); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// add adds the mutation "put ROW CELL…" or "delete ROW MARKER…" to a batch.
func add(b *hbase.Batch, words []string) error {
	b.Mutate(parseBytes(words[1]))
	for _, word := range words[2:] {
		c, err := parseCell(word)
		if err != nil {
			return err
		}
		if c.Type == hbase.Put {
			b.Put(c.Family, c.Qualifier, c.Timestamp, c.Value)
		} else {
			b.Delete(c.Type, c.Family, c.Qualifier, c.Timestamp)
		}
	}
	return nil
}

func (r *runner) mutate(table, kind string, words []string) error {
	if err := r.batch(table, [][]string{append([]string{kind}, words...)}); err != nil {
		return err
	}
	_, result, _ := strings.Cut(r.lines[0], " ") // a batch of one, without its index
	r.lines[0] = result
	return nil
}

func (r *runner) batch(table string, more [][]string) error {
	b, err := batchOf(table, more)
	if err != nil {
		return err
	}
	failed, err := r.client.Submit(r.ctx, b).Wait(r.ctx)
	if err != nil {
		return err
	}
	results := make([]string, len(more))
	for i := range results {
		results[i] = "ok"
	}
	for _, f := range failed {
		results[f.Index] = "error " + mutationClass(f)
	}
	for i, result := range results {
		r.say("%d %s", i, result)
	}
	return nil
}

func mutationClass(f hbase.MutationError) string {
	if f.Class != "" {
		return simple(f.Class)
	}
	return class(f.Err)
}

func (r *runner) get(table string, words []string) error {
	g, err := parseGet(words)
	if err != nil {
		return err
	}
	result, err := r.client.Get(r.ctx, table, g)
	if err != nil {
		return err
	}
	r.cells(result, "")
	return nil
}

func (r *runner) gets(table string, more [][]string) error {
	var gets []hbase.Get
	for _, words := range more {
		g, err := parseGet(words)
		if err != nil {
			return err
		}
		gets = append(gets, g)
	}
	results, err := r.client.GetAll(r.ctx, table, gets)
	if err != nil {
		return err
	}
	for i, result := range results {
		r.cells(result, fmt.Sprintf("%d ", i))
	}
	return nil
}

// scan reads a range. Further lines "N OPERATION…" run after N rows, while the scanner is open.
func (r *runner) scan(table string, words []string, more [][]string) error {
	s, err := parseScan(words)
	if err != nil {
		return err
	}
	rows := 0
	s.Metrics = new(hbase.ScanMetrics)
	for result, err := range r.client.Scan(r.ctx, table, s) {
		if err != nil {
			return err
		}
		rows++
		r.cells(result, "")
		for len(more) > 0 && more[0][0] == strconv.Itoa(rows) {
			if err := r.inner(more[0][1:]); err != nil {
				return err
			}
			more = more[1:]
		}
	}
	r.say("%d rows", rows)
	if slices.Contains(words, "metrics") {
		r.say("%d scanned, %d filtered", s.Metrics.RowsScanned, s.Metrics.RowsFiltered)
	}
	return nil
}

func (r *runner) count(table string) error {
	rows := 0
	for _, err := range r.client.Scan(r.ctx, table, hbase.Scan{}) {
		if err != nil {
			return err
		}
		rows++
	}
	r.say("%d rows", rows)
	return nil
}

func (r *runner) digest(table string) error {
	digest, err := Digest(r.ctx, r.client, table)
	if err == nil {
		r.say("%s", digest)
	}
	return err
}

func (r *runner) cells(result hbase.Result, head string) {
	if len(result.Cells) == 0 {
		r.say("%snone", head)
	}
	for _, c := range result.Cells {
		r.say("%s%s", head, formatCell(c))
	}
}

// parseGet parses a row and the options of a get.
func parseGet(words []string) (hbase.Get, error) {
	s, err := parseScan(words[1:])
	return hbase.Get{Row: parseBytes(words[0]), Columns: s.Columns, MaxVersions: s.MaxVersions, From: s.From, To: s.To}, err
}

func parseScan(words []string) (hbase.Scan, error) {
	var s hbase.Scan
	for _, word := range words {
		option, value, _ := strings.Cut(word, "=")
		switch option {
		case "start":
			s.Start = parseBytes(value)
		case "stop":
			s.Stop = parseBytes(value)
		case "reverse":
			s.Reverse = true
		case "raw":
			s.Raw = true
		case "limit":
			s.Limit = int(parseInt(value))
		case "caching":
			s.Caching = int(parseInt(value))
		case "bytes":
			s.MaxResultBytes = int(parseInt(value))
		case "prefix":
			s.Filter = hbase.PrefixFilter{Prefix: parseBytes(value)}
		case "until":
			s.Filter = hbase.InclusiveStopFilter{Stop: parseBytes(value)}
		case "metrics": // handled by scan
		case "versions":
			s.MaxVersions = int(parseInt(value))
		case "times":
			from, to, _ := strings.Cut(value, ",")
			s.From, s.To = parseTime(from), parseTime(to)
		case "columns":
			for _, word := range strings.Split(value, ",") {
				family, qualifier := parseColumn(word)
				if len(qualifier) == 0 {
					qualifier = nil // the whole family
				}
				s.Columns = append(s.Columns, hbase.Column{Family: family, Qualifier: qualifier})
			}
		default:
			return s, fmt.Errorf("no such option: %s", word)
		}
	}
	return s, nil
}

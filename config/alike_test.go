package config

import (
	"slices"
	"strings"
	"testing"
)

// visited is a table with documents that end as its rows do, although changes tie and have nulls.
const visited = `
kafka: { brokers: [localhost:9092], group: brine }
hbase: { connect: "rpc://localhost:16000" }
search: { connect: "http://localhost:9200" }
tables:
  visits: { row: entity, key: 'md5(user, 4) + user + "|" + desc(seen, ms)', families: { a: { versions: 2 }, b: {} } }
indexes:
  visits: { fields: { user: keyword, seen: date, page: keyword } }
pipelines:
  visits:
    topic: visits
    fields: { user: text, seen: time_ms, at: time_ms, n: int, page: text, note: text, gone: bool }
    version: at
    changes: partial
    rows:
      - { table: visits, set: { "a:p": page, "b:n": note, "b:c": n, "b:d": gone } }
    documents:
      - { index: visits, set: { user: user, seen: seen, page: page } }
`

// What check reports about changed versions of visited.
const (
	where        = "pipelines.visits.rows[0].nulls: if two changes share a version and "
	keeps        = " is null in the last one, the row keeps the other's value, but its document in visits has none; "
	orAll        = ", or make each record carry every field [document-nulls]"
	byParts      = "write changes: partial, so that the document keeps its value too"
	reportedPage = where + "page" + keeps + byParts + orAll
	reportedGone = where + "gone" + keeps + byParts + orAll
	reportedTies = where + "page" + keeps + "write version: seq(at, n) if the source counts such changes" + orAll

	stay            = "indexes.visits.every: rows of visits expire by their ttl, but their documents stay: searches find what is no longer in HBase; "
	reportedEvery   = stay + "write every: month, and set time to a date filled with seen of the row key; if the index exists, do so in a new one [document-ttl]"
	reportedReindex = stay + "run brine reindex visits --from hbase now and then, which leaves them out [document-ttl]"
)

// TestDocumentsThatDoNotEndAsTheirRows changes settings of visited, each old text followed by the new one.
func TestDocumentsThatDoNotEndAsTheirRows(t *testing.T) {
	const (
		partial, row, document = "changes: partial", `set: { "a:p": page, "b:n": note, "b:c": n, "b:d": gone }`, "set: { user: user, seen: seen, page: page }"
		at, images             = "version: at", "version: at\n    images: { before: old, after: new, deleted: gone }"
	)
	const second = `pipelines:
  corrections:
    topic: corrections
    fields: { user: text, seen: time_ms, note: text }
    changes: partial
    rows: [ { table: visits, set: { "b:n": note } } ]
    documents: [ { index: visits, set: { user: user, seen: seen } } ]`
	whole := []string{partial, "changes: whole"}
	families := []string{"a: { versions: 2 }, b: {}", "a: { versions: 2, ttl: 1d }, b: { ttl: 30d }"}
	under := []string{"user: text, seen: time_ms", "user: { type: text, path: new.user }, seen: { type: time_ms, path: new.seen }", "page: text", "page: { type: text, path: new.page }"}
	for name, c := range map[string]struct {
		change []string
		want   string
	}{
		"partial changes":                            {nil, ""},
		"whole changes":                              {whole, reportedPage},
		"merge, written":                             {append(whole, row, "nulls: merge, "+row), reportedPage},
		"nulls delete":                               {append(whole, row, "nulls: delete, "+row), ""},
		"nulls replace":                              {append(whole, row, "nulls: replace, "+row), ""},
		"the time of the record is the version":      {append(whole, at, ""), reportedPage},
		"whole seconds":                              {append(whole, "at: time_ms", "at: time_s"), reportedPage},
		"counted within the millisecond":             {append(whole, at, "version: seq(at, n)"), ""},
		"a number that only grows":                   {append(whole, at, "version: n"), ""},
		"events, of which each is a row":             {append(whole, "row: entity", "row: event", "versions: 2", "versions: 1"), ""},
		"the document has other fields":              {append(whole, document, "set: { user: user, seen: seen }"), ""},
		"the document is marked as the row is":       {append(whole, document, "set: { user: user, seen: seen }, deleted: gone"), reportedGone},
		"the version and the key are never null":     {append(whole, "page: page", "page: at", "page: keyword", "page: date", `"a:p": page`, `"a:p": at, "a:u": user`), ""},
		"packed, so replaced as the document is":     {append(whole, row, `pack: { "a:p": msgpack }`), ""},
		"beside a packed cell":                       {append(whole, row, `set: { "a:p": page }, pack: { "b:p": { fields: { n: note } } }`), reportedTies},
		"moving rows need whole changes":             {append(append(whole, at, images), under...), reportedTies},
		"what says that a row has moved is not null": {append(append(whole, document, "set: { user: user, seen: seen }", at, images), under...), ""},
		"a ttl":                                      {families, reportedEvery},
		"a ttl, and parts":                           {append(families, "page: keyword }", "page: keyword }, every: day, time: seen"), ""},
		"a ttl, of what two pipelines write":         {append(families, "pipelines:", second), reportedEvery},
		"a ttl of one family of two":                 {[]string{"b: {}", "b: { ttl: 30d }"}, ""},
		"the newest cells outlive the ttl":           {append(families, "ttl: 1d", "ttl: 1d, min_versions: 1"), ""},
		"a ttl, in a process that drops no parts":    {append(families, "http://localhost:9200", "embedded:search"), reportedReindex},
		"a ttl, and no time in the key":              {append(families, ` + "|" + desc(seen, ms)`, ""), reportedReindex},
		"a ttl of the rows alone":                    {[]string{row, "ttl: 30d, " + row}, reportedReindex},
		"a ttl of the rows, and another of families": {append(families, row, "ttl: 2h, "+row), reportedEvery},
	} {
		t.Run(name, func(t *testing.T) {
			if got := alike(t, visited, c.change); got != c.want {
				t.Errorf("reported %q\nwant %q", got, c.want)
			}
		})
	}
}

// alike returns the problems reported about documents and their rows after the replacements.
func alike(t *testing.T, text string, change []string) string {
	t.Helper()
	for c := range slices.Chunk(change, 2) {
		if !strings.Contains(text, c[0]) {
			t.Fatalf("nothing to change: %s", c[0])
		}
		text = strings.ReplaceAll(text, c[0], c[1])
	}
	cfg, problems := Parse("brine.yaml", []byte(text), environ())
	if cfg == nil {
		t.Fatal(problems)
	}
	var reported []string
	for _, p := range problems.Warnings() {
		if p.Code == DocumentNulls || p.Code == DocumentTTL {
			_, text, _ := strings.Cut(p.String(), "warning: ")
			reported = append(reported, text)
		}
	}
	return strings.Join(reported, "\n")
}

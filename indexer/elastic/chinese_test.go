package elastic_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/indexer"
	"brine/indexer/elastic"
	"brine/indexer/indexertest"
	"brine/internal/testenv"
	"brine/search"
)

func TestChineseWordsOfRealElasticsearch(t *testing.T) { chineseWords(t, testenv.Elasticsearch(t)) }

func TestChineseWordsOfRealOpenSearch(t *testing.T) { chineseWords(t, testenv.OpenSearch(t)) }

// chineseWords checks that the analyzer smartcn cuts text into words of a dictionary, by which it is found. What the standard one finds by
// single characters, and the embedded index by pairs of them, is not found: a part of a word, and characters of two words.
func chineseWords(t *testing.T, address string) {
	t.Parallel()
	e, err := elastic.Open(elastic.Options{Addresses: []string{address}, Replicas: elastic.NoReplicas, Analyzer: "smartcn"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		deleteIndexes(t, address, indexertest.Prefix+"chinese-")
		e.Close()
	})
	index := fmt.Sprintf("%schinese-%d", indexertest.Prefix, time.Now().UnixNano())
	if err := e.EnsureIndex(t.Context(), indexer.Mapping{Index: index, Fields: []indexer.Field{{Name: "deleted", Type: indexer.Boolean}, {Name: "item", Type: indexer.Text}}}); err != nil {
		t.Fatal(err)
	}
	var ops []indexer.Op
	for id, text := range map[string]string{"a": "上海市浦东新区 红富士苹果 5kg", "b": "北京市朝阳区 苹果汁", "c": "快递已到达上海"} {
		ops = append(ops, indexer.Op{Kind: indexer.Put, Index: index, ID: []byte(id), Version: 1, Source: fmt.Appendf(nil, `{"_row":%q,"_ver":1,"item":%q}`, id, text)})
	}
	results := make([]indexer.Result, len(ops))
	if err := e.Bulk(t.Context(), ops, results); err != nil || slices.ContainsFunc(results, func(r indexer.Result) bool { return r.Status != 201 }) {
		t.Fatal(results, err)
	}
	if err := e.Refresh(t.Context(), index); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"苹果": "a b", "浦东": "a", "苹果汁": "b", "苹果 北京市": "b", "红富士 5KG": "a", "上海": "c", "到达 快递": "c", "北京": "", "达上": "", "梨子": ""} {
		page, err := e.Search(t.Context(), search.Query{Index: index, Filter: []search.Clause{search.Match{Field: "item", Text: text}}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range page.Hits {
			got = append(got, string(h.Row))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

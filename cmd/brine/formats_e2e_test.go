package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/sr"
)

// published is the result of records of a format: a configuration from examples/formats, records, and what must be found afterwards.
type published struct {
	example
	schemas   map[int]sr.Schema // in the registry, by id
	keys      map[int]sr.Schema // those of keys
	records   []sent
	query     string
	want      string // fields of each row; TOPIC stands for the topic
	documents string
	dead      []string // reasons and fields of dead letters, of rows or documents
}

// TestFormatsEndToEnd takes records of each format, with its example, through Kafka into rows and documents, and reads the topic again:
// verify agrees. It covers every example of a format.
func TestFormatsEndToEnd(t *testing.T) {
	s := embeddedStack(t)
	all := append(encodedFormats(t), wholeRecords(), rowsOfCSV(), arrays(), framedJSON(), rawTexts())
	files, err := filepath.Glob("../../examples/formats/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !slices.ContainsFunc(all, func(x published) bool { return x.file == "formats/"+filepath.Base(file) }) {
			t.Errorf("nobody runs %s", file)
		}
	}
	for _, x := range all {
		t.Run(x.pipeline, func(t *testing.T) {
			j := newJobOf(t, s, x.example)
			if x.schemas != nil {
				registry := newSchemaRegistry(t)
				for id, schema := range x.schemas {
					registry.SeedSchema(j.topic+"-value", id, id, schema)
				}
				for id, schema := range x.keys {
					registry.SeedSchema(j.topic+"-key", id, id, schema)
				}
				j.replace("http://localhost:8081", registry.URL())
			}
			j.sendAll(x.records)
			j.must("check", "--connect", j.file)
			j.must("run", "-q", "-c", j.file, "--until-end")
			want := strings.ReplaceAll(x.want, "TOPIC", j.topic)
			if diff := cmp.Diff(want, j.fieldsOf(strings.Fields(x.query)...)); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(x.documents, j.documentsText()); diff != "" {
				t.Errorf("documents (-want +got):\n%s", diff)
			}
			var dead []string
			for _, l := range j.deadLetters() {
				dead = append(dead, fmt.Sprint(l.Reason, " ", l.Field))
			}
			slices.Sort(dead)
			if diff := cmp.Diff(x.dead, slices.Compact(dead)); diff != "" {
				t.Errorf("dead letters (-want +got):\n%s", diff)
			}
			j.verified(0)
		})
	}
}

// documentsText returns the job's documents without brine's additions, in the order of their fields.
func (j *job) documentsText() string {
	var all []string
	for _, d := range j.documents() {
		var fields []string
		for name, value := range d {
			if !strings.HasPrefix(name, "_") && !strings.HasPrefix(name, "brine") {
				fields = append(fields, fmt.Sprint(name, ":", value))
			}
		}
		slices.Sort(fields)
		all = append(all, strings.Join(fields, " "))
	}
	slices.Sort(all)
	return strings.Join(all, " | ")
}

func wholeRecords() published {
	at := time.UnixMilli(1357034220000)
	header := func(name, value string) kafka.Header { return kafka.Header{Key: name, Value: []byte(value)} }
	return published{
		example: example{"../cmd/brine/testdata/formats/whole.yaml", "whole", "shop.whole", "shop:whole", "whole", "order"},
		records: []sent{
			{key: []byte(`{"id":"o1"}`), value: []byte(`{"items":[{"sku":"x"}],"state":1,"total":"9.50"}`), time: at, partition: 1,
				headers: []kafka.Header{header("shop", "BE"), header("tries", "3"), header("shop", " EU ")}},
			{key: []byte(`{"id":"o2"}`), value: []byte(`{"state":"2"}`), time: at, partition: 1},
			{key: []byte(`{"id":"o3"}`), value: []byte(`{"state":3}`), time: at},
			{key: []byte(`o4`), value: []byte(`{}`), time: at},
			{value: []byte(`{}`), time: at},
			{key: []byte(`{"id":"o5"}`), value: []byte(`{}`), time: at, headers: []kafka.Header{header("tries", "x")}},
		},
		query: "order=o1",
		want: `at:2013-01-01T09:57:00.000Z first:x offset:0 order:o1 part:1 shop:eu source:app state:created topic:TOPIC total:9.5 ` +
			`tries:3`,
		documents: "offset:0 order:o1 shop:eu source:app state:created | offset:1 order:o2 shop:none source:app state:paid",
		dead:      []string{"missing_field $key.id", "missing_field order", "undecodable $key", "wrong_type $header.tries", "wrong_type state"},
	}
}

// valued returns records with these values.
func valued(values ...string) (records []sent) {
	for i, value := range values {
		records = append(records, sent{value: []byte(value), time: time.UnixMilli(1357034220000), partition: i % 2})
	}
	return records
}

func rowsOfCSV() published {
	return published{
		example: example{"formats/csv.yaml", "csv", "shop.csv", "shop:csv", "csv", "id"},
		records: valued("o1;2013-01-01T09:57:00Z;paid;x\r\n", "o1;2013-01-01T09:58:00Z;\"shipped; at \"\"last\"\"\";", "o2;2013-01-01T09:57:00Z;;",
			"o3;2013-01-01T09:57:00Z", "o4;soon;;"),
		query:     "id=o1",
		want:      `at:2013-01-01T09:58:00.000Z id:o1 status:shipped; at "last"`,
		documents: `id:o1 status:shipped; at "last" | id:o2 status:none`,
		dead:      []string{"undecodable ", "wrong_type at"},
	}
}

func arrays() published {
	return published{
		example: example{"formats/json-array.yaml", "json_array", "shop.json_array", "shop:json_array", "json_array", "id"},
		records: valued(`[{"id":"o1","at":"2013-01-01T09:58:00Z","status":"paid"},{"id":"o2","at":"2013-01-01T09:57:00Z","status":"new"}]`, `[]`,
			`[{"id":"o1","at":"2013-01-01T09:57:00Z","status":"new"}]`, `[{"id":"o3","at":"2013-01-01T09:57:00Z"},{"id":"o4","at":1}]`, `{}`),
		query:     "id=o1",
		want:      `at:2013-01-01T09:58:00.000Z id:o1 status:paid`,
		documents: `id:o1 status:paid | id:o2 status:new`,
		dead:      []string{"undecodable ", "wrong_type 1.at"},
	}
}

func framedJSON() published {
	return published{
		example: example{"formats/json-framed.yaml", "json_framed", "shop.json_framed", "shop:json_framed", "json_framed", "id"},
		records: valued("\x00\x00\x00\x00\x07"+`{"id":"o1","at":"2013-01-01T09:58:00Z","status":"paid"}`,
			`{"id":"o2","at":"2013-01-01T09:58:00Z"}`, "\x00\x00"),
		query:     "id=o1",
		want:      `at:2013-01-01T09:58:00.000Z id:o1 status:paid`,
		documents: `id:o1 status:paid`,
		dead:      []string{"undecodable "},
	}
}

func rawTexts() published {
	at := time.UnixMilli(1357034220000)
	return published{
		example: example{"formats/raw.yaml", "raw", "shop.raw", "shop:raw", "raw", "id"},
		records: []sent{{key: []byte("o1"), value: []byte("any, {text"), time: at}, {key: []byte("o2"), value: []byte("\xff"), time: at},
			{value: []byte("x"), time: at}},
		query:     "id=o1",
		want:      `at:2013-01-01T09:57:00.000Z id:o1 status:any, {text`,
		documents: `id:o1 status:any, {text`,
		dead:      []string{"missing_field $key", "missing_field id", "undecodable $value"},
	}
}

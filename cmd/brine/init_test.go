package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"

	"brine/internal/sample"
)

// TestInitWritesWhatCheckAcceptsAndRunRuns: from each bundled sample, from a topic, and from CSV, init writes a configuration that check
// accepts with nothing but advice, and that run runs to the end of the topic.
func TestInitWritesWhatCheckAcceptsAndRunRuns(t *testing.T) {
	t.Parallel()
	s := embeddedStack(t)
	dir := t.TempDir()
	var scans, orders []byte
	for value := range sample.Scans() {
		if scans = append(append(scans, value...), '\n'); len(scans) > 200_000 {
			break
		}
	}
	for value := range sample.Orders(300) {
		orders = append(append(orders, value...), '\n')
	}
	csv := "parcel,at,station,weight\n"
	for _, row := range []string{"p1,2024-05-01T08:00:00Z,Oslo,1.5", "p1,2024-05-01T09:00:00Z,Bergen,1.5", "p2,2024-05-02T08:00:00Z,Oslo,20"} {
		csv += row + "\n"
	}
	for _, c := range []struct {
		file, topic, key string
		text             []byte
		of               string // the sample; empty: the file
	}{
		{"scans.jsonl", "courier.scans", "waybill", scans, ""},
		{"orders.jsonl", "shop.orders", "order", orders, "topic:shop.orders"},
		{"parcels.csv", "parcels", "parcel", []byte(csv), ""},
	} {
		j := &job{stack: s, t: t, topic: c.topic, file: filepath.Join(dir, c.topic+".yaml")}
		file := filepath.Join(dir, c.file)
		if err := os.WriteFile(file, c.text, 0o600); err != nil {
			t.Fatal(err)
		}
		publish := []string{"publish", "--brokers", strings.Join(s.brokers, ","), "--topic", c.topic, "--key", c.key, file}
		of := c.of
		if of == "" {
			of = file
		} else {
			j.must(publish...)
		}
		j.must("init", "--topic", c.topic, "--sample", of, "--brokers", strings.Join(s.brokers, ","), "--hbase", s.hbase, "-o", j.file)
		j.must("check", j.file)
		j.must("tables", "apply", "-c", j.file)
		if c.of == "" {
			j.must(append([]string{"publish", "-c", j.file}, publish[3:]...)...)
		}
		j.must("run", "-q", "-c", j.file, "--until-end")
		j.must("verify", "-c", j.file, "--full")
	}
}

// TestInitTakesServersFromTheEnvironment checks that init writes the servers of the environment, and that a flag overrides them.
func TestInitTakesServersFromTheEnvironment(t *testing.T) {
	t.Parallel()
	s := embeddedStack(t)
	dir := t.TempDir()
	j := &job{stack: s, t: t, topic: "parcels", file: filepath.Join(dir, "brine.yaml")}
	sample := filepath.Join(dir, "parcels.csv")
	if err := os.WriteFile(sample, []byte("parcel,at\np1,2024-05-01T08:00:00Z\np1,2024-05-01T09:00:00Z\np2,2024-05-02T08:00:00Z\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	j.must("publish", "--topic", j.topic, "--key", "parcel", sample)
	for _, c := range []struct {
		flags []string
		want  string
	}{
		{nil, s.hbase},
		{[]string{"--hbase", "rpc://elsewhere:1"}, "rpc://elsewhere:1"},
	} {
		out := j.must(append([]string{"init", "--topic", j.topic, "-o", "-"}, c.flags...)...)
		if !strings.Contains(out, s.brokers[0]) || !strings.Contains(out, c.want) {
			t.Errorf("init %v: want %s and %s in\n%s", c.flags, s.brokers[0], c.want, out)
		}
	}
}

// TestInitRefuses checks that init reports what it cannot do, and does not overwrite a file.
func TestInitRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "s.jsonl")
	if err := os.WriteFile(file, []byte(`{"x":1.5}`+"\n"+`{"x":2.5}`), 0o600); err != nil {
		t.Fatal(err)
	}
	there := filepath.Join(dir, "there.yaml")
	if err := os.WriteFile(there, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"init"}, exitUsage, "--topic: name the topic"},
		{[]string{"init", "--topic", "t", "--sample", file, "-o", there}, exitUsage, "already exists; name another file, or give --force"},
		{[]string{"init", "--topic", "t", "--sample", file + "x", "-o", "-"}, exitUsage, "no such file"},
		{[]string{"init", "--topic", "t", "--sample", file, "-o", "-"}, exitFailed, "no configuration can be proposed from this sample"},
		{[]string{"init", "--topic", "t", "--sample", file, "--records", "0", "-o", "-"}, exitUsage, "--records: 0; it must be at least 1"},
	} {
		code, _, stderr := brine(t, c.args...)
		if code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit code %d, %q; want %d, %q", c.args, code, stderr, c.code, c.want)
		}
	}
	if text, err := os.ReadFile(there); err != nil || string(text) != "mine" {
		t.Errorf("the file is %q now, %v", text, err)
	}
}

// containerFile writes parcels, or none, into an Avro object container file.
func containerFile(t *testing.T, file string, parcels int) {
	t.Helper()
	var out bytes.Buffer
	w, err := ocf.NewWriter(&out, avro.MustParse(parcelAvro), ocf.WithCodec(ocf.SnappyCodec()))
	if err != nil {
		t.Fatal(err)
	}
	for n := range parcels {
		err := w.Encode(map[string]any{"id": fmt.Sprint("p", n%4), "at": parcelTime.UnixMilli() + int64(n), "weight": nil,
			"to": map[string]any{"city": "Oslo", "zip": nil}, "tags": []string{"a"}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestInitOfContainers checks that a container's schema is written beside the configuration, which check accepts, or left to the registry,
// and that containers of which nothing can be made are named with the reason.
func TestInitOfContainers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	contents := func(name string) string {
		text, err := os.ReadFile(in(name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	containerFile(t, in("parcels.avro"), 12)
	containerFile(t, in("empty.avro"), 0)
	whole := contents("parcels.avro")
	for name, text := range map[string]string{"cut.avro": whole[:len(whole)-9], "head.avro": whole[:40], "mine.avsc": "mine", "mine.avro": whole} {
		if err := os.WriteFile(in(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"init", "--topic", "parcels", "--sample", in("parcels.avro"), "-o", in("brine.yaml")},
		{"check", in("brine.yaml")},
		{"init", "--topic", "parcels", "--sample", in("parcels.avro"), "-o", in("brine.yaml"), "--force"},
		{"init", "--topic", "parcels", "--sample", in("mine.avro"), "--registry", "http://localhost:8081", "-o", in("registry.yaml")},
		{"check", in("registry.yaml")},
	} {
		if code, stdout, stderr := brine(t, args...); code != 0 {
			t.Fatalf("%v: exit code %d, %s%s", args, code, stdout, stderr)
		}
	}
	schema, err := avro.Parse(contents("parcels.avsc"))
	if err != nil || len(schema.Root().Fields) != 5 {
		t.Errorf("the schema is %s, %v", contents("parcels.avsc"), err)
	}
	for name, want := range map[string][]string{
		"brine.yaml": {"# 12 records were read.", "format: avro", "schema: parcels.avsc ", "city: { type: text, path: [to, city] }",
			"Records in the topic are no such files"},
		"registry.yaml": {"# 12 records were read.", "registry:\n  url: ", "Compare the fields with the schema in the registry"},
	} {
		for _, part := range want {
			if text := contents(name); !strings.Contains(text, part) {
				t.Errorf("%s lacks %q:\n%s", name, part, text)
			}
		}
	}
	for _, c := range []struct {
		name string
		more []string
		code int
		want string
	}{
		{"cut.avro", nil, exitFailed, "cut.avro is an Avro object container file, but it ends within a block, after 0 values; copy it again, whole"},
		{"head.avro", nil, exitFailed, "head.avro is an Avro object container file, but it ends within its header"},
		{"empty.avro", nil, exitFailed, "empty.avro holds a schema, but no values"},
		{"parcels.avro", []string{"--schema", in("parcels.avsc")}, exitFailed, "but parcels.avro holds that of its own; omit it"},
		{"mine.avro", nil, exitUsage, "mine.avsc, where the schema in mine.avro is to be written, already exists"},
	} {
		args := append([]string{"init", "--topic", "parcels", "--sample", in(c.name), "-o", in("another.yaml")}, c.more...)
		if code, _, stderr := brine(t, args...); code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit code %d, %q; want %d, %q", c.name, code, stderr, c.code, c.want)
		}
	}
	if _, err := os.Stat(in("another.yaml")); err == nil || contents("mine.avsc") != "mine" {
		t.Error("a refusal wrote a file")
	}
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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

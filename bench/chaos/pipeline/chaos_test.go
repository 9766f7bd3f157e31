package pipeline

import (
	"context"
	"encoding/binary"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/bench/chaos/fault"
	"brine/bench/measure"
	"brine/config"
	"brine/hbase"
	"brine/internal/testenv"
	"brine/verify"
)

func TestKinds(t *testing.T) {
	r := new(run)
	n := 0
	for i, kinds := range r.kinds() {
		r.tracks[i] = track{kinds: kinds, plan: kinds.Plan(1)}
		n += len(kinds)
	}
	if n < 12 {
		t.Errorf("%d kinds, want 12", n)
	}
	if err := r.only("split, kill brine,move"); err != nil || !slices.Equal(r.tracks[brines].plan, []string{"kill brine"}) || !slices.Equal(r.tracks[regions].plan, []string{"split", "move"}) {
		t.Errorf("%v: %q, %q", err, r.tracks[brines].plan, r.tracks[regions].plan)
	}
	if err := r.only("kill brne"); err == nil || !strings.Contains(err.Error(), "freeze broker") || !strings.Contains(err.Error(), "kill zookeeper") {
		t.Errorf("error %v does not say what there is", err)
	}
}

func TestConfigurationIsGood(t *testing.T) {
	_, problems := config.Load("chaos.yaml", func(string) (string, bool) { return "", false })
	if err := problems.Err(); err != nil {
		t.Error(err)
	}
	for _, warning := range problems.Warnings() {
		if warning.Code != "many-versions" { // wanted here
			t.Error(warning)
		}
	}
}

func TestMiddle(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"", "", "8000"}, {"", "2000", "1000"}, {"e000", "", "f000"}, {"12", "14", "1300"}, {"1200", "1201", ""},
		{"12ffabc|", "1301", "1300"},
	} {
		if got := string(middle(hbase.Region{Start: []byte(c.from), End: []byte(c.to)})); got != c.want {
			t.Errorf("the middle of [%s, %s) is %q, want %q", c.from, c.to, got, c.want)
		}
	}
}

// commit returns a record of the broker's log of commits.
func commit(version uint16, group, topic string, partition uint32, offset uint64) [2][]byte {
	key := binary.BigEndian.AppendUint16(nil, version)
	for _, s := range []string{group, topic} {
		key = append(binary.BigEndian.AppendUint16(key, uint16(len(s))), s...)
	}
	key = binary.BigEndian.AppendUint32(key, partition)
	value := append(binary.BigEndian.AppendUint64([]byte{0, 3}, offset), "and more"...)
	return [2][]byte{key, value}
}

func TestCommits(t *testing.T) {
	ends := map[place]progress{{"a", 0}: {end: 10}, {"a", 1}: {end: 10}}
	c := Commits{groups: []string{"chaos.scans.rows"}}
	last := make(map[string]int64)
	for _, r := range [][2][]byte{
		commit(1, "chaos.scans.rows", "a", 0, 4), commit(1, "chaos.scans.rows", "a", 1, 2), commit(1, "chaos.scans.rows", "a", 0, 4), commit(1, "chaos.scans.rows", "a", 0, 10),
		commit(1, "calm.scans.rows", "a", 0, 99), commit(1, "chaos.publish.a_scans.jsonl", "a", 0, 99), commit(2, "chaos.scans.rows", "a", 0, 99),
		{{0, 2, 0, 1, 'g'}, {0, 3}},
	} {
		if err := c.record(r[0], r[1], last, ends); err != nil {
			t.Fatal(err)
		}
	}
	if c.Count != 4 || c.Back != 0 || c.Ahead != 0 {
		t.Errorf("%+v, want 4 good commits", c)
	}
	if r := commit(1, "chaos.scans.rows", "a", 1, 1); c.record(r[0], r[1], last, ends) != nil || c.Back != 1 {
		t.Errorf("%+v, want one that goes back", c)
	}
	if r := commit(1, "chaos.scans.rows", "a", 1, 11); c.record(r[0], r[1], last, ends) != nil || c.Ahead != 1 {
		t.Errorf("%+v, want one past the end", c)
	}
}

// TestCommitsOfABroker commits by hand, and reads the commits from the log of a real broker.
func TestCommitsOfABroker(t *testing.T) {
	client := &kafka.Client{Addr: kafka.TCP(testenv.Kafka(t)...), Timeout: 10 * time.Second}
	topic := "chaos-commits-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	made, err := client.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{Topic: topic, NumPartitions: 2, ReplicationFactor: 1}}})
	if err != nil || made.Errors[topic] != nil {
		t.Fatal(err, made)
	}
	t.Cleanup(func() { client.DeleteTopics(context.Background(), &kafka.DeleteTopicsRequest{Topics: []string{topic}}) })
	patiently := func(try func() error) { // a broker's first group creates its log of commits, which takes a moment
		for err := try(); err != nil; err = try() {
			t.Log(err)
			time.Sleep(100 * time.Millisecond)
		}
	}
	for _, offset := range []int64{3, 7, 5} {
		patiently(func() error {
			resp, err := client.OffsetCommit(t.Context(), &kafka.OffsetCommitRequest{GroupID: topic + ".rows", GenerationID: -1,
				Topics: map[string][]kafka.OffsetCommit{topic: {{Partition: 1, Offset: offset}}}})
			if err != nil {
				return err
			}
			return resp.Topics[topic][0].Error
		})
	}
	var c *Commits
	patiently(func() error {
		c, err = readCommits(t.Context(), client.Addr.String(), []string{topic + ".rows"}, map[place]progress{{topic, 1}: {end: 6}})
		return err
	})
	if c.Count != 3 || c.Back != 1 || c.Ahead != 1 {
		t.Fatalf("%+v; want 3 commits, one backwards, one past the end", c)
	}
}

func TestTargetsAreShort(t *testing.T) {
	good := func() *run {
		r := &run{Inputs: []*input{{topic: "a", table: "scans", Events: 2_000_000, Rows: 5, Poison: 2}}, Commits: &Commits{Count: 9}}
		r.Faults = []*fault.Fault{{Kind: "split"}, {Kind: "move"}, {Kind: "merge", Failed: "refused"}}
		r.Tables, r.Letters = []*table{{"scans", "rows=5 cells=9 sha256=aa", "rows=5 cells=9 sha256=aa"}}, map[string]int{"a": 2}
		r.Verify.Tables = []fault.Verified{{Found: map[verify.Kind]int64{}}}
		return r
	}
	for _, c := range []struct {
		name   string
		change func(*run)
		short  string
	}{
		{"good", func(*run) {}, ""},
		{"a fault that was not played", func(r *run) { r.Faults[0].Failed = "no" }, "chaos.faults chaos.kinds"},
		{"missing", func(r *run) { r.Verify.Tables[0].Found[verify.Missing] = 1 }, "chaos.verify_missing"},
		{"extra", func(r *run) { r.Verify.Tables[0].Found[verify.Extra] = 1 }, "chaos.verify_extra"},
		{"lost", func(r *run) { r.Verify.Lost = 1 }, "chaos.verify_lost"},
		{"a slow verify", func(r *run) { r.Verify.Seconds = 61 }, "chaos.verify_s"},
		{"a large verify", func(r *run) { r.Verify.PeakMiB = 257 }, "chaos.verify_peak_mib"},
		{"another digest", func(r *run) { r.Tables[0].Calm = "rows=5 cells=9 sha256=bb" }, "chaos.tables_unlike_undisturbed"},
		{"a row less in both", func(r *run) { r.Inputs[0].Rows = 6 }, "chaos.rows_too_many_or_few"},
		{"a letter twice", func(r *run) { r.Letters["a"] = 3 }, "chaos.dead_letters_too_many_or_few"},
		{"a commit that goes back", func(r *run) { r.Commits.Back = 1 }, "chaos.commits_backwards"},
		{"a crash", func(r *run) { r.Odd = []string{"panic"} }, "chaos.ends_nobody_asked_for"},
		{"too slow", func(r *run) { r.CatchUp = 61 }, "chaos.catch_up_s"},
	} {
		r := good()
		c.change(r)
		if got := strings.Join(measure.Shorts(r.targets(2, 2)), " "); got != c.short {
			t.Errorf("%s: short are %q, want %q", c.name, got, c.short)
		}
	}
}

func TestWentOn(t *testing.T) {
	a, b := place{"a", 0}, place{"a", 1}
	g := &groups{inputs: []*input{{Events: 20}}}
	before := map[place]progress{a: {5, 10}, b: {10, 10}}
	zero := time.Unix(1000, 0)
	g.note(before, zero)
	if g.wentOn(before) || g.caughtUp(zero.Add(-1), g.inputs) {
		t.Error("nothing has gone on")
	}
	g.note(before, zero.Add(5*time.Second))
	g.note(map[place]progress{a: {10, 10}, b: {10, 10}}, zero.Add(6*time.Second))
	if !g.wentOn(before) || !g.caughtUp(zero, g.inputs) || g.caughtUp(zero.Add(time.Minute), g.inputs) {
		t.Error("all has gone on, as it should")
	}
	if g.Stands != 5*time.Second {
		t.Errorf("it stood for %v, want 5 s", g.Stands)
	}
}

// A short run, if real servers are required: it takes some minutes.
func TestShortRun(t *testing.T) {
	if os.Getenv("BRINE_REAL") != "required" || os.Getenv("BRINE_CHAOS") == "" {
		t.Skip("a cluster of its own takes minutes: set BRINE_REAL=required and BRINE_CHAOS=1, or run make chaos")
	}
	t.Chdir("../../..")
	r := run{Seed: 1, Members: 2, publishing: time.Minute, events: 100_000, Began: time.Now()}
	for i, kinds := range r.kinds() {
		r.tracks[i].kinds = kinds
	}
	if err := r.only("kill brine,freeze brine,split,move"); err != nil {
		t.Fatal(err)
	}
	if err := r.all(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, target := range r.targets(3, 3) {
		if target.Verdict() == measure.Short && target.Name != "chaos.events" {
			t.Error(target)
		}
	}
}

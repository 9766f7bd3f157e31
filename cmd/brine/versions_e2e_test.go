package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"brine/hbase/embedded"
	"brine/internal/sample"
	"brine/internal/testenv"
	"brine/top"
)

// versions returns the versions of the members of the job's group, sorted, as brine ps shows them.
func (j *job) versions(p *process) (versions []string) {
	j.t.Helper()
	var listed top.Listed
	if err := json.Unmarshal([]byte(j.must("ps", "--http", p.http, "--json")), &listed); err != nil {
		j.t.Fatal(err)
	}
	for _, m := range listed.Members {
		versions = append(versions, m.Version)
	}
	slices.Sort(versions)
	return versions
}

func (j *job) untilVersions(p *process, want ...string) {
	j.t.Helper()
	for start := time.Now(); !slices.Equal(j.versions(p), want); wait(j.t, 50*time.Millisecond) {
		if time.Since(start) > standstill/5 {
			j.t.Fatalf("members run %q; expected %q\n%s", j.versions(p), want, &p.log)
		}
	}
}

// TestVersionsOfMembersAreShown upgrades one of two members, then the other, by either protocol.
func TestVersionsOfMembersAreShown(t *testing.T) {
	t.Parallel()
	onStacks(t, scansExample, func(t *testing.T, j *job) {
		for _, protocol := range []string{"classic", "consumer"} {
			begin := func(version string) *process {
				return j.begin(versionVariable+"="+version, "BRINE_KAFKA_GROUP_PROTOCOL="+protocol)
			}
			first, second := begin("1.3.0"), begin("1.3.0")
			j.untilVersions(first, "1.3.0", "1.3.0")
			second.stop()
			second = begin("1.4.0")
			j.untilVersions(first, "1.3.0", "1.4.0")
			j.untilVersions(second, "1.3.0", "1.4.0")
			if out := j.must("ps", "--http", second.http); !strings.Contains(out, "VERSION") || !strings.Contains(out, " 1.3.0\n") || !strings.Contains(out, " 1.4.0\n") {
				t.Errorf("%s", out)
			}
			first.stop()
			j.untilVersions(second, "1.4.0")
			second.stop()
		}
	})
}

// TestMemberThatCannotReportGoesOn: brokers that refuse the control topic cost a line in the log.
func TestMemberThatCannotReportGoesOn(t *testing.T) {
	t.Parallel()
	broker := testenv.KafkaFake(t, devPartitions)
	server, err := embedded.Start(embedded.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	j := newJob(t, stack{brokers: broker.ListenAddrs(), hbase: "rpc://" + server.Addr(), search: "embedded:" + filepath.Join(t.TempDir(), "search")})
	broker.ControlKey(kmsg.CreateTopics.Int16(), func(q kmsg.Request) (kmsg.Response, error, bool) {
		broker.KeepControl()
		asked := q.(*kmsg.CreateTopicsRequest)
		answer := asked.ResponseKind().(*kmsg.CreateTopicsResponse)
		if !strings.HasSuffix(asked.Topics[0].Topic, ".control") {
			return nil, nil, false
		}
		of := kmsg.NewCreateTopicsResponseTopic()
		of.Topic, of.ErrorCode = asked.Topics[0].Topic, kerr.TopicAuthorizationFailed.Code
		answer.Topics = append(answer.Topics, of)
		return answer, nil, true
	})
	p := j.begin(versionVariable + "=1.4.0")
	const line = "cannot report which version runs here"
	for start := time.Now(); !strings.Contains(p.log.String(), line); wait(t, 20*time.Millisecond) {
		if time.Since(start) > standstill/5 {
			t.Fatalf("it does not say that it cannot report:\n%s", &p.log)
		}
	}
	n := j.publish(first(sample.Scans(), 500))
	p.until("scans.rows", n)
	if got := j.versions(p); !slices.Equal(got, []string{""}) {
		t.Errorf("versions %q", got)
	}
	p.stop()
	if got := strings.Count(p.log.String(), line); got != 1 {
		t.Errorf("said %d times:\n%s", got, &p.log)
	}
}

package main

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestCheckSaysThatDeadLettersMayNotFit has a dead letter topic that takes less than its source's largest record.
func TestCheckSaysThatDeadLettersMayNotFit(t *testing.T) {
	t.Parallel()
	onStacks(t, scansExample, func(t *testing.T, j *job) {
		const says = "accepts records of at most 1,048,588 bytes, but a dead letter of the largest record that"
		j.send(0, "not json")
		j.must("run", "-q", "-c", j.file, "--until-end") // creates the topic, large enough
		if out := j.must("check", "--connect", j.file); strings.Contains(out, says) {
			t.Errorf("check warns of a topic that brine has made:\n%s", out)
		}
		j.resizeDeadLetters("1048588")
		if out := j.must("check", "--connect", j.file); !strings.Contains(out, says) || !strings.Contains(out, ".dead --add-config max.message.bytes=1") {
			t.Errorf("check does not say it:\n%s", out)
		}
	})
}

// resizeDeadLetters sets the largest record that the job's dead letter topic takes.
func (j *job) resizeDeadLetters(bytes string) {
	j.t.Helper()
	configureTopic(j.t, j.brokers, j.topic+".dead", "max.message.bytes", bytes)
}

// TestLetterThatDoesNotFitHoldsItsPartitionAlone: only its partition is waiting, and reports the fix. Once the topic is fixed, it goes on too.
func TestLetterThatDoesNotFitHoldsItsPartitionAlone(t *testing.T) {
	t.Parallel()
	onStacks(t, scansExample, func(t *testing.T, j *job) {
		j.send(0, "not json")
		j.must("run", "-q", "-c", j.file, "--until-end") // creates the topic
		j.resizeDeadLetters("5000")
		large := make([]byte, 20_000)
		_, _ = rand.NewChaCha8([32]byte{}).Read(large) // never fails; random bytes do not compress
		j.send(0, string(large))
		j.send(1, `{"waybill":"W","action":"A","at":1357034220000}`)
		p := j.begin()
		p.until("scans.rows", 2)
		for said := ""; !strings.Contains(said, "partition 0, offset 1 is too large") || !strings.Contains(said, j.topic+".dead --add-config max.message.bytes="); {
			wait(t, 20*time.Millisecond)
			for _, part := range p.half("scans.rows").Partitions {
				if part.Partition == 0 {
					said = part.Detail
				}
			}
			if t.Context().Err() != nil {
				t.Fatalf("partition 0 says %q", said)
			}
		}
		if n := j.uncommitted("rows"); n == 0 {
			t.Error("the record is committed, and its letter is not there")
		}
		j.resizeDeadLetters("100000")
		p.until("scans.rows", 3)
		p.stop()
		if n := j.uncommitted("rows"); n != 0 {
			t.Errorf("%d records are not committed", n)
		}
		if out := j.must("deadletters", "ls", "-c", j.file); !strings.Contains(out, "2 dead letters of 2 records scanned") {
			t.Errorf("ls says\n%s", out)
		}
	})
}

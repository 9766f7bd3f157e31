package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestDeadLettersAreFixedOnTheirWayBack: a preview says what a fix would do and does nothing. The fix is written only if there is nothing
// newer. Fixing a field of the key or the version needs a flag of its own. verify still finds what was fixed, and the dead letter is closed
// with the fix.
func TestDeadLettersAreFixedOnTheirWayBack(t *testing.T) {
	t.Parallel()
	onStacks(t, ordersExample, func(t *testing.T, j *job) {
		at := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
		change := func(order string, ms int64, status, payment string) sent {
			return sent{time: at, key: []byte(order), value: fmt.Appendf(nil, `{"order":%q,"user":"u1","created":%d,"at":%d,"status":%q,"payment":%s}`,
				order, at.UnixMilli(), at.UnixMilli()+ms, status, payment)}
		}
		j.sendAll([]sent{change("O1", 1, "paid", "7"), change("O1", 2, "shipped", `"card"`), change("O2", 1, "paid", "8"),
			{time: at, value: fmt.Appendf(nil, `{"order":"O3","user":"u1","created":%d,"at":"%d","status":"paid"}`, at.UnixMilli(), at.UnixMilli())},
			{time: at, value: []byte(`{"order":`)}})
		j.must("run", "-q", "-c", j.file, "--until-end")
		replay := func(args ...string) []string {
			return append([]string{"deadletters", "replay", "-c", j.file, "-q"}, args...)
		}
		const fix = `payment = payment == "7" ? "cash" : payment`
		before := j.outcome()
		for _, c := range []struct {
			args []string
			want string
		}{
			{[]string{"--let", "payment"}, `--let "payment": write FIELD = EXPRESSION`},
			{[]string{"--let", "paymnt = payment"}, "has no field of this name; it has "},
			{[]string{"--let", "payment = nothing"}, "there is no field and no function nothing"},
			{[]string{"--let", "at = int(at)"}, "at: the version"},
			{[]string{"--let", "user = user.trim()"}, "user: the row key of "},
		} {
			if out, code := j.exit(replay(c.args...)...); code != exitUsage || !strings.Contains(out, c.want) {
				t.Errorf("%v: exit %d, without %q: %s", c.args, code, c.want, out)
			}
		}
		out := j.must(replay("--half", "rows", "--let", fix, "--preview", "3")...)
		for _, want := range []string{"payment: 7 → cash", "stays ", "shipped at ", "adds ", "payment: 8 → 8", "nothing there",
			"4 letters to replay; 2 would be written, 2 rejected again (undecodable 1, wrong_type 1)", "rejected again: wrong_type: field at"} {
			if !strings.Contains(out, want) {
				t.Errorf("the preview lacks %q:\n%s", want, out)
			}
		}
		if strings.Contains(out, "null → ?") {
			t.Errorf("the preview shows a field that a rejected record does not have:\n%s", out)
		}
		if docs := j.output(replay("--half", "documents", "--let", fix, "--preview", "1", "--json")...); !strings.Contains(docs, `"fixed":[{"field":"payment","before":"7","after":"cash"}]`) ||
			!strings.Contains(docs, `"action":"stays"`) || !strings.Contains(docs, `"writable":2`) {
			t.Errorf("the preview of documents:\n%s", docs)
		}
		if now := j.outcome(); fmt.Sprint(now) != fmt.Sprint(before) {
			t.Fatalf("a preview has written: %+v, before %+v", now, before)
		}
		if out, code := j.exit(replay("--let", fix)...); code != exitFailed || !strings.Contains(out, "orders.rows: 2 of 4 records written and marked") {
			t.Errorf("exit %d:\n%s", code, out)
		}
		if out, code := j.exit(replay("--let", "at = int(at)", "--alter-identity")...); code != exitFailed || !strings.Contains(out, "--let alters at: the version") ||
			!strings.Contains(out, "orders.rows: 1 of 2 records written") {
			t.Errorf("exit %d:\n%s", code, out)
		}
		rows := j.output("query", "-c", j.file, j.table, "user=u1", "--json")
		if !strings.Contains(rows, `"shipped"`) || strings.Contains(rows, `"cash"`) || !strings.Contains(rows, `"payment":"8"`) || !strings.Contains(rows, `"O3"`) {
			t.Errorf("the rows are\n%s", rows)
		}
		if shown := j.must("deadletters", "show", "-c", j.file, "0:0"); !strings.Contains(shown, ", fixed by "+fix) {
			t.Errorf("show says\n%s", shown)
		}
		if out := j.must("explain", "-c", j.file, j.topic, "0", "0"); !strings.Contains(out, "its dead letter was replayed, fixed by "+fix) {
			t.Errorf("explain says\n%s", out)
		} else if _, fixed, _ := strings.Cut(out, "with the fix, its rows:"); !strings.Contains(fixed, "row of "+j.table) || !strings.Contains(fixed, "newer: card") {
			t.Errorf("explain does not show what the fix has written:\n%s", out)
		}
		if out := j.must("verify", "-c", j.file, "-q"); !strings.Contains(out, "nothing is missing") {
			t.Errorf("verify takes what was fixed for lost:\n%s", out)
		}
		if out := j.must("verify", "-c", j.file, "-q", "--full", "--delete-extra", "--yes"); !strings.Contains(out, "nothing is missing") {
			t.Errorf("verify takes what was fixed for extra:\n%s", out)
		}
		if now := j.output("query", "-c", j.file, j.table, "user=u1", "--json"); now != rows {
			t.Errorf("after --delete-extra the rows are\n%s\nthey were\n%s", now, rows)
		}
		// A purge must not make verify take them for extra.
		if out := j.must("deadletters", "purge", "-c", j.file, "-q", "--older-than", "1ms", "--yes"); !strings.Contains(out, "6 fixed, kept") {
			t.Errorf("the purge says\n%s", out)
		}
		if out, code := j.exit("verify", "-c", j.file, "-q", "--full", "--delete-extra", "--yes"); code != exitDiffers || strings.Contains(out, "extra") {
			t.Errorf("exit %d; verify takes what was fixed for extra after a purge:\n%s", code, out)
		}
		if now := j.output("query", "-c", j.file, j.table, "user=u1", "--json"); now != rows {
			t.Errorf("after a purge and --delete-extra the rows are\n%s\nthey were\n%s", now, rows)
		}
	})
}

// TestDeadLettersArePurgedByAge: older dead letters are deleted after confirmation. The others stay, and can be replayed as before.
func TestDeadLettersArePurgedByAge(t *testing.T) {
	t.Parallel()
	onStacks(t, scansExample, func(t *testing.T, j *job) {
		bad := sent{time: time.Now(), value: []byte("not json")}
		j.sendAll([]sent{bad, bad})
		j.must("run", "-q", "-c", j.file, "--until-end")
		purge := func(args ...string) []string {
			return append([]string{"deadletters", "purge", "-c", j.file, "-q"}, args...)
		}
		if out := j.must(purge("--older-than", "1h", "--yes")...); !strings.Contains(out, "nothing to delete") {
			t.Errorf("what is young:\n%s", out)
		}
		if out, code := j.exit(purge("--older-than", "2999-01-01")...); code != exitUsage || !strings.Contains(out, "in the future") {
			t.Errorf("exit %d: %s", code, out)
		}
		if out, code := j.exit(purge("--older-than", "1ms")...); code != exitFailed || !strings.Contains(out, "2 letters, 2 of them never replayed") ||
			!strings.Contains(out, "nothing was changed") {
			t.Errorf("exit %d without an answer:\n%s", code, out)
		}
		if out := j.must(purge("--older-than", "1ms", "--keep-open", "--yes")...); !strings.Contains(out, "nothing to delete") {
			t.Errorf("open letters are to stay:\n%s", out)
		}
		if out := j.output(purge("--older-than", "1ms", "--yes", "--json")...); !strings.Contains(out, `"letters":2,"open":2,`) || !strings.Contains(out, `"deleted":true`) {
			t.Errorf("the purge says %s", out)
		}
		j.sendAll([]sent{bad})
		j.must("run", "-q", "-c", j.file, "--until-end")
		if out := j.must("deadletters", "ls", "-c", j.file); !strings.Contains(out, "1 dead letter of 1 record scanned") {
			t.Errorf("after the purge:\n%s", out)
		}
	})
}

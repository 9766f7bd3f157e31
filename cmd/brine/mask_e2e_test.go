package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
)

// TestMaskedFieldIsShownNowhere plants a telephone number in every kind of record and of failure. No command that shows records prints it,
// nor do logs, health and the dead letters' own messages; --unmask shows it.
func TestMaskedFieldIsShownNowhere(t *testing.T) {
	t.Parallel()
	const phone = "13800138000"
	onStacks(t, ordersExample, func(t *testing.T, j *job) {
		j.replace("    rows:", "    mask: [payment, user]\n    rows:")
		at := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
		record := func(format string, args ...any) sent {
			return sent{time: at, key: []byte("+86" + phone), value: fmt.Appendf(nil, format, args...),
				headers: []kafka.Header{{Key: "caller", Value: []byte(phone)}}}
		}
		ms := at.UnixMilli()
		j.sendAll([]sent{
			record(`{"order":"O1","user":%q,"created":%d,"at":%d,"status":"paid","payment":%q}`, phone, ms, ms, phone),
			record(`{"order":"O2","user":%q,"created":%d,"at":%d,"status":"paid","payment":%s}`, phone, ms, ms, phone), // wrong type
			record(`{"order":"O3","user":%q,"created":%d,"status":"paid","payment":%q}`, phone, ms, phone),             // missing version
			record(`{"order":"O4","user":%q,"created":%d,"at":%d,"payment":"%s`, phone, ms, ms, phone),                 // cut off
			record(`{"order":"O5","user":%q "%s"`, phone, phone),
			record(`%s`, phone),
			record(`{"order":"O6","user":{"phone":%q},"created":%d,"at":%d}`, phone, ms, ms),
			record(`{"order":"O7","user":%q,"created":%d,"at":%d,"payment":%q}`, phone, ms, ms, strings.Repeat(phone, 20_000)), // too long for a document
			record(`{"order":"O8","user":%q,"created":%d,"at":%d}`, strings.Repeat(phone, 4000), ms, ms),                       // too long for a key
			record(`{"order":"O9","user":%q,"created":%d,"at":%d,"status":"paid","payment":"a"}`, phone, ms, ms),
			record(`{"order":"O9","user":%q,"created":%d,"at":%d,"status":"shipped","payment":%q}`, phone, ms, ms, phone), // a tie
		})
		looked := 0
		clean := func(what, text string) {
			t.Helper()
			looked++
			if i := strings.Index(text, phone[:8]); i >= 0 {
				t.Errorf("%s shows it: …%s…", what, text[max(0, i-300):min(len(text), i+100)])
			}
		}
		out, _ := j.exit("run", "-c", j.file, "--until-end")
		clean("run", out)
		shows := [][]string{
			{"deadletters", "ls"}, {"deadletters", "ls", "--json"}, {"deadletters", "ls", "--summary"}, {"deadletters", "ls", "--summary", "--json"},
			{"deadletters", "replay", "--dry-run"}, {"deadletters", "replay", "--preview", "20"}, {"deadletters", "replay", "--preview", "20", "--json"},
			{"deadletters", "replay", "--preview", "20", "--let", "payment = payment.trim()"}, {"deadletters", "replay"},
			{"deadletters", "replay", "--preview", "20", "--json", "--let", "payment = payment.trim()"},
			{"query", j.table, "user=" + phone}, {"query", j.table, "user=" + phone, "--json"}, {"query", j.table, "user=" + phone, "--hex"},
			{"replay", "--from", "earliest", "--diff", "20", "--half", "rows"}, {"replay", "--from", "earliest", "--diff", "20", "--half", "rows", "--json"},
			{"verify"}, {"verify", "--full", "--json"}, {"check", "--connect"},
		}
		for offset := range 11 {
			place := fmt.Sprint(offset)
			shows = append(shows, []string{"deadletters", "show", "0:" + place}, []string{"deadletters", "show", "0:" + place, "--json"},
				[]string{"deadletters", "show", "0:" + place, "--value"}, []string{"explain", j.topic, "0", place}, []string{"explain", j.topic, "0", place, "--json"})
		}
		for _, args := range shows {
			out, code := j.exit(append(args, "-c", j.file)...)
			if code == exitUsage {
				t.Errorf("brine %v:\n%s", args, out)
			}
			clean(fmt.Sprint("brine ", args), out)
		}
		for _, l := range j.deadLetters() {
			clean("the letter of "+l.Record.Topic, l.Field+" "+l.Detail)
		}
		p := j.begin()
		p.until("orders.rows", 0)
		for _, path := range []string{"/healthz", "/metrics", "/debug/skew", "/readyz"} {
			_, body := p.get(path)
			clean(path, body)
		}
		p.stop()

		plain := j.output("query", "-c", j.file, j.table, "user="+phone, "--json", "--unmask")
		if !strings.Contains(plain, `"payment":"`+phone+`"`) {
			t.Errorf("--unmask shows\n%s", plain)
		}
		if masked := j.output("query", "-c", j.file, j.table, "user="+phone, "--json"); !strings.Contains(masked, `"payment":"***"`) || !strings.Contains(masked, `"row":"***"`) ||
			!strings.Contains(masked, `"order":"O1"`) {
			t.Errorf("a masked row is\n%s", masked)
		}
		var first struct{ Row string }
		if err := json.NewDecoder(strings.NewReader(plain)).Decode(&first); err != nil || first.Row == "" {
			t.Fatalf("%v: %s", err, plain)
		}
		key := first.Row
		for _, args := range [][]string{{"key", "decode", j.table, key}, {"key", "decode", j.table, key, "--json"}, {"key", "explain", j.table, key}, {"key", "explain", j.table, key, "--json"}} {
			clean(fmt.Sprint("brine ", args[:2]), j.must(append(args, "-c", j.file)...))
		}
		if shown := j.must("deadletters", "show", "-c", j.file, "0:1"); !strings.Contains(shown, "payment    ***") || !strings.Contains(shown, "order      O2") || !strings.Contains(shown, "bytes, hash ") {
			t.Errorf("show:\n%s", shown)
		}
		if shown := j.must("deadletters", "show", "-c", j.file, "0:1", "--unmask"); !strings.Contains(shown, `"payment": `+phone) {
			t.Errorf("show --unmask:\n%s", shown)
		}
		if out, code := j.exit("deadletters", "ls", "-c", j.file, "--text", phone); code != exitUsage || !strings.Contains(out, "--unmask") {
			t.Errorf("exit %d of a search in masked records: %s", code, out)
		}
		for _, let := range []string{"status = user", `status = "to " + payment`, `status = payment == "` + phone + `" ? "a" : "b"`} {
			for _, more := range [][]string{{"--preview", "20"}, {"--preview", "20", "--json"}, nil} {
				args := append([]string{"deadletters", "replay", "-c", j.file, "--let", let}, more...)
				out, code := j.exit(args...)
				if code != exitUsage || !strings.Contains(out, "--unmask") {
					t.Errorf("exit %d of %v, which copies what is masked: %s", code, args, out)
				}
				clean(let, strings.ReplaceAll(out, let, ""))
			}
		}
		j.must("deadletters", "replay", "-c", j.file, "--preview", "20", "--let", "status = user", "--unmask")
		t.Logf("looked at %d answers", looked)
	})
}

package pressure

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// spent is a second of a half with one partition, in milliseconds by step: what its workers did, the time of its calls, and how long the
// store had what settled.
type spent struct {
	fetch, decode, room, submit, lane, server, settle, commit, stored int
}

func (s spent) into(m *Meter) {
	for step, ms := range map[Step]int{Fetch: s.fetch, Decode: s.decode, Room: s.room, Submit: s.submit, Lane: s.lane, Server: s.server,
		Settle: s.settle, Commit: s.commit} {
		m.Add(step, time.Duration(ms)*time.Millisecond)
	}
	m.stored.Add(int64(time.Duration(s.stored) * time.Millisecond))
}

// The limiting step is where back-pressure begins, not where others wait.
func TestLimit(t *testing.T) {
	for name, c := range map[string]struct {
		spent
		want Step
	}{
		"nothing more to read":           {spent{fetch: 900, decode: 30, submit: 20, server: 20, lane: 5, stored: 40}, Fetch},
		"decoding":                       {spent{fetch: 10, decode: 700, submit: 200, server: 100, lane: 10, stored: 110}, Decode},
		"keys and documents":             {spent{decode: 200, submit: 700, server: 100, lane: 10, stored: 110}, Submit},
		"slow servers, and deep lanes":   {spent{decode: 50, room: 900, submit: 50, lane: 9000, server: 2000, stored: 4000}, Server},
		"pauses after failures":          {spent{decode: 5, room: 990, submit: 5, lane: 3000, server: 50, stored: 3900}, Lane},
		"dead letters":                   {spent{decode: 100, room: 800, submit: 100, lane: 10, server: 40, settle: 3000, stored: 60}, Settle},
		"no calls: all that is left out": {spent{decode: 20, room: 900, stored: 1000}, Settle},
	} {
		t.Run(name, func(t *testing.T) {
			m := &Meter{}
			began := time.Now()
			if r := m.Read(began); r.Known || r.Limits() != "" {
				t.Errorf("the first look: %+v", r)
			}
			c.into(m)
			r := m.Read(began.Add(time.Second))
			sum := 0.0
			for _, share := range r.Shares {
				sum += share
			}
			if r.Limits() != c.want.String() || math.Abs(sum-1) > 1e-9 {
				t.Errorf("%s, want %s; the shares %v add up to %v", r.Limits(), c.want, r.Shares, sum)
			}
		})
	}
}

// The time in the store is divided between lanes and servers in proportion; waiting for the writer's room does not count as submit.
func TestSharesOfTheStore(t *testing.T) {
	m := &Meter{}
	began := time.Now()
	m.Read(began)
	m.Add(Submit, 500*time.Millisecond)
	m.Blocked(400 * time.Millisecond)
	m.Add(Lane, 6*time.Second)
	m.Add(Server, 2*time.Second)
	m.Settled(450*time.Millisecond, 400*time.Millisecond)
	m.Add(Commit, 50*time.Millisecond)
	text, err := json.Marshal(m.Read(began.Add(time.Second)).Shares)
	if want := `{"fetch":0,"decode":0,"room":0.4,"submit":0.1,"lane":0.3,"server":0.1,"settle":0.05,"commit":0.05}`; err != nil || string(text) != want {
		t.Errorf("%s, %v, want %s", text, err, want)
	}
	var back Shares
	if err := json.Unmarshal(text, &back); err != nil || back[Lane] != .3 {
		t.Errorf("read back: %v, %v", back, err)
	}
}

// After a minute of something else, two thirds of the reading are that; reads in quick succession return the same.
func TestReadForgets(t *testing.T) {
	m, now := &Meter{}, time.Now()
	m.Read(now)
	var said []string
	for second := range 121 {
		now = now.Add(time.Second)
		if second < 61 {
			spent{fetch: 1000}.into(m)
		} else {
			spent{decode: 1000}.into(m)
		}
		r := m.Read(now)
		if again := m.Read(now.Add(time.Millisecond)); again != r {
			t.Fatalf("a look right after another: %+v, %+v", again, r)
		}
		if second%60 == 0 {
			said = append(said, fmt.Sprintf("%.2f %s", r.Shares[Decode], r.Limits()))
		}
	}
	if got := strings.Join(said, ", "); got != "0.00 fetch, 0.00 fetch, 0.63 decode" {
		t.Error(got)
	}
}

func TestMeterAllocatesNothing(t *testing.T) {
	m := &Meter{}
	if n := testing.AllocsPerRun(100, func() {
		m.Add(Decode, time.Millisecond)
		m.Settled(2, 1)
		m.Fetched(1, 100)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAdd(b *testing.B) {
	m := &Meter{}
	for b.Loop() {
		m.Add(Decode, time.Millisecond)
	}
}

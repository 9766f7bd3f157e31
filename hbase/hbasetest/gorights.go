package hbasetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"brine/hbase"
)

// permission parses USER ACTIONS [COLUMN] for a table; - means all actions.
func permission(table string, words []string) hbase.Permission {
	p := hbase.Permission{Table: table, User: words[0], Actions: strings.Trim(words[1], "-")}
	if len(words) > 2 && words[2] != "merge" {
		family, qualifier := parseColumn(words[2])
		p.Family, p.Qualifier = string(family), string(qualifier)
	}
	return p
}

func (r *runner) permissions(table string) error {
	found, err := r.client.Permissions(r.ctx, hbase.Permission{Table: table})
	if err != nil {
		return err
	}
	n := 0
	for _, p := range found {
		if strings.HasPrefix(p.User, "user") { // otherwise it is the creator of the table
			r.say("%s %s:%s %s", p.User, p.Family, p.Qualifier, p.Actions)
			n++
		}
	}
	r.say("%d permissions", n)
	return nil
}

// throttle parses [USER] KIND LIMIT UNIT for a table.
func (r *runner) throttle(table string, words []string) error {
	of := hbase.QuotaOf{Table: table}
	if len(words) > 3 {
		of.User, words = words[0], words[1:]
	}
	per := map[string]time.Duration{"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}
	t := hbase.Throttle{Kind: hbase.ThrottleKind(words[0]), Limit: uint64(parseInt(words[1])), Per: per[words[2]]}
	return r.ok(r.client.SetThrottle(r.ctx, of, t))
}

func (r *runner) quotas(table string) error {
	found, err := r.client.Quotas(r.ctx)
	if err != nil {
		return err
	}
	var lines []string
	for _, q := range found {
		if q.Table != table {
			continue
		}
		for _, t := range q.Throttles {
			lines = append(lines, strings.TrimSpace(q.User+" "+string(t.Kind))+" "+formatLimit(t))
		}
		if q.Bytes > 0 {
			lines = append(lines, "space "+string(q.Policy))
		}
	}
	slices.Sort(lines)
	r.lines = append(r.lines, lines...)
	r.say("%d quotas", len(lines))
	return nil
}

func formatLimit(t hbase.Throttle) string {
	units := map[time.Duration]string{time.Second: "SECONDS", time.Minute: "MINUTES", time.Hour: "HOURS", 24 * time.Hour: "DAYS"}
	return fmt.Sprintf("%d %s", t.Limit, units[t.Per])
}

// addPeer parses [disabled] [serial] [bandwidth=N] [tables=TABLE,…]. The peer's endpoint contacts no other cluster.
func (r *runner) addPeer(id string, words []string) error {
	p := hbase.Peer{ID: id, ClusterKey: "127.0.0.1:1:/none", Endpoint: quietEndpoint}
	for _, word := range words {
		option, value, _ := strings.Cut(word, "=")
		switch option {
		case "disabled":
			p.Disabled = true
		case "serial":
			p.Serial = true
		case "bandwidth":
			p.Bandwidth = parseInt(value)
		case "tables":
			p.Tables = map[string][]string{}
			for _, t := range strings.Split(value, ",") {
				p.Tables[r.prefix+t] = nil
			}
		}
	}
	return r.ok(r.client.AddPeer(r.ctx, p))
}

const quietEndpoint = "org.apache.hadoop.hbase.replication.regionserver.RegionReplicaReplicationEndpoint"

func (r *runner) peers() error {
	found, err := r.client.Peers(r.ctx)
	if err != nil {
		return err
	}
	n := 0
	for _, p := range found {
		if !strings.HasPrefix(p.ID, r.prefix) {
			continue
		}
		n++
		line := p.ID
		if p.Disabled {
			line += " disabled"
		}
		if p.Serial {
			line += " serial"
		}
		r.say("%s bandwidth=%d tables=%s", line, p.Bandwidth, strings.Join(slices.Sorted(maps.Keys(p.Tables)), ","))
	}
	r.say("%d peers", n)
	return nil
}

func (r *runner) normalizer(on bool) error {
	was, err := r.client.SetNormalizer(r.ctx, on)
	if err != nil {
		return err
	}
	now, err := r.client.NormalizerOn(r.ctx)
	if err == nil {
		r.say("was %t, is %t", was, now)
	}
	return err
}

func (r *runner) normalize(table string) error {
	ran, err := r.client.Normalize(r.ctx, table)
	if err == nil {
		r.say("%t", ran)
	}
	return err
}

func (r *runner) slowLog(table string) error {
	_, err := r.client.SlowLog(r.ctx, hbase.SlowCalls{Table: table})
	return r.ok(err)
}

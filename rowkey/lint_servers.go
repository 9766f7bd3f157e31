package rowkey

import "fmt"

// lintBuckets finds too few buckets for the servers: one server at a time writes a bucket, unless a hash follows it at which it can be cut.
func (k *Key) lintBuckets(o LintOptions) []Finding {
	lead := k.lead()
	s, ok := lead.part.(*salt)
	if !ok {
		return nil
	}
	if k.tooFew(o.Servers) {
		more := 2 * o.Servers
		return []Finding{{"few-buckets", Warning, lead.offset,
			fmt.Sprintf("%d buckets keep at most %d servers busy, but there are %d", s.buckets, s.buckets, o.Servers),
			fmt.Sprintf("write salt(%d, %s) and regions: %d, and never change the salt once there are rows", more, joinNames(s.fields), more)}}
	}
	if o.Regions > 0 && uneven(s, o.Regions) {
		return []Finding{{"uneven-regions", Advice, lead.offset,
			fmt.Sprintf("%d buckets do not divide evenly into %d regions", s.buckets, o.Regions),
			fmt.Sprintf("start the table with %d regions", s.buckets)}}
	}
	return nil
}

func uneven(s *salt, regions int) bool { return regions%s.buckets != 0 && s.buckets%regions != 0 }

// lintBeginnings finds a hash that is too short for the servers: a table cannot be cut into more regions than its hash has values.
func (k *Key) lintBeginnings(o LintOptions) []Finding {
	lead := k.lead()
	h, ok := lead.part.(*hash)
	if !ok || !k.tooFew(o.Servers) {
		return nil
	}
	longer := *h
	for sp, _ := spreadOf(&longer); sp.size().IsInt64() && sp.size().Int64() < int64(2*o.Servers); sp, _ = spreadOf(&longer) {
		longer.n++
	}
	return []Finding{{"few-beginnings", Warning, lead.offset,
		fmt.Sprintf("%s gives too few distinct prefixes for a region on each of %d servers", h.expr(), o.Servers),
		fmt.Sprintf("use a longer hash: write %s and regions: %d, and never change the hash once there are rows", longer.expr(), 2*o.Servers)}}
}

// tooFew reports whether what the key spreads by has fewer values than there are servers.
func (k *Key) tooFew(servers int) bool {
	if servers < 2 {
		return false
	}
	_, err := k.Splits(servers)
	return err != nil
}

// lintRegions finds fewer regions than servers: one server writes a region, so the others stand idle. If too few buckets or beginnings are
// the reason, their own finding reports it.
func (k *Key) lintRegions(o LintOptions) []Finding {
	if o.Servers <= max(o.Regions, 1) || len(k.lintBuckets(LintOptions{Servers: o.Servers}))+len(k.lintBeginnings(o)) > 0 {
		return nil
	}
	return []Finding{{"few-regions", Warning, 0,
		fmt.Sprintf("there are %d servers, but %d of them have nothing to write until regions split", o.Servers, o.Servers-max(o.Regions, 1)),
		k.fixRegions(o.Servers)}}
}

// fixRegions proposes a number of regions that Splits accepts and that divides evenly into the buckets: two per server, or fewer.
func (k *Key) fixRegions(servers int) string {
	s, salted := k.lead().part.(*salt)
	for n := 2 * servers; n >= servers; n-- {
		if salted && uneven(s, n) {
			continue
		}
		if _, err := k.Splits(n); err == nil {
			return fmt.Sprintf("start it with regions: %d", n)
		}
	}
	if salted {
		return fmt.Sprintf("start it with regions: %d", s.buckets)
	}
	return "begin the key with a hash or a salt, or find split points from a sample"
}

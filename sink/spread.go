package sink

// counted is how many salt buckets of a table are counted.
func (s *Sink) counted(t *target) int {
	n := t.salt.Buckets()
	if s.opts.Hooks.Spread == nil || n > MaxBuckets {
		return 0
	}
	return n
}

// countBuckets sets p.spread to what is durable of the flight.
func (p *part) countBuckets() {
	clear(p.spread)
	errs := p.errs
	start := 0
	for i, end := range p.ends {
		size := end - start
		start = end
		if len(errs) > 0 && errs[0].Index == i {
			errs = errs[1:]
			continue
		}
		if b := p.salt.Bucket(p.batch.Row(i)); b >= 0 {
			p.spread[b].Rows++
			p.spread[b].Bytes += int64(size)
		}
	}
}

package sink

// counted returns the number of salt buckets to count for a table, or 0 if none are counted.
func (s *Sink) counted(t *target) int {
	n := t.salt.Buckets()
	if s.opts.Hooks.Spread == nil || n > MaxBuckets {
		return 0
	}
	return n
}

// reportSpread passes the durable rows of a part to the hook.
func (s *Sink) reportSpread(p *part) {
	if len(p.ends) == 0 {
		return
	}
	if p.spread == nil {
		p.spread = make([]Bucket, s.counted(p.target))
	}
	p.countBuckets()
	s.opts.Hooks.Spread(SpreadInfo{p.table.Name, p.spread})
}

// countBuckets sets p.spread to the durable rows of the flight.
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

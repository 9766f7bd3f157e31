package hbase

import (
	"context"
	"slices"
)

// findMeta returns where hbase:meta is: as it was last known, else as the registry tells.
func (l *locator) findMeta(ctx context.Context) (*Region, error) {
	l.metaMu.Lock()
	meta := l.meta
	l.metaMu.Unlock()
	if meta != nil {
		return meta, nil
	}
	return l.lookupOnce(ctx, "meta", func() (*Region, error) {
		meta, err := l.registry.meta(l.servers.ctx)
		if err != nil {
			return nil, err
		}
		l.metaMu.Lock()
		l.meta, l.metaServer = meta, meta.Server
		l.metaMu.Unlock()
		return meta, nil
	})
}

// known returns the region servers that were come across.
func (l *locator) known() []string {
	l.metaMu.Lock()
	addr := l.metaServer
	l.metaMu.Unlock()
	addrs := l.cache.servers()
	if addr != "" && !slices.Contains(addrs, addr) {
		addrs = append(addrs, addr)
	}
	return addrs
}

func (l *locator) dropMeta(r *Region) {
	l.metaMu.Lock()
	defer l.metaMu.Unlock()
	if l.meta == r {
		l.meta = nil
	}
}

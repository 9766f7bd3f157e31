package locate

import (
	"context"
	"slices"
)

// FindMeta returns the location of hbase:meta: the last known one, or else the registry's.
func (l *Locator) FindMeta(ctx context.Context) (*Region, error) {
	l.metaMu.Lock()
	meta := l.meta
	l.metaMu.Unlock()
	if meta != nil {
		return meta, nil
	}
	return l.readOnce(ctx, "meta", func() (*Region, error) {
		at, err := l.registry.Meta(l.ctx)
		if err != nil {
			return nil, err
		}
		meta := metaRegion(at)
		l.metaMu.Lock()
		l.meta, l.metaServer = meta, meta.Server
		l.metaMu.Unlock()
		return meta, nil
	})
}

// known returns the region servers seen so far.
func (l *Locator) known() []string {
	l.metaMu.Lock()
	addr := l.metaServer
	l.metaMu.Unlock()
	addrs := l.cache.servers()
	if addr != "" && !slices.Contains(addrs, addr) {
		addrs = append(addrs, addr)
	}
	return addrs
}

func (l *Locator) dropMeta(r *Region) {
	l.metaMu.Lock()
	defer l.metaMu.Unlock()
	if l.meta == r {
		l.meta = nil
	}
}

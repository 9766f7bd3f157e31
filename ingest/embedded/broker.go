package embedded

import (
	"context"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"brine/internal/datadir"
)

// Broker is a Kafka cluster of one or more brokers in this process.
type Broker struct {
	*kfake.Cluster
	client  *kgo.Client
	stop    context.CancelFunc
	stopped chan struct{}
	disk    *disk             // nil in memory
	acks    *acknowledgements // nil in memory
}

// Listen is how a broker listens: net.Listen or a substitute.
type Listen func(network, addr string) (net.Listener, error)

// ErrDamaged is returned by StartIn for a folder whose records are not those that were acknowledged; the error names the file.
var ErrDamaged = datadir.ErrDamaged

const (
	lookEvery = 500 * time.Millisecond
	callTime  = 30 * time.Second // longer than clients wait for an answer, beyond the time of a rebalance
)

// StartIn starts a Kafka that keeps what it acknowledges in a folder, which no other process may use. It calls warn with the reason when
// the folder cannot be written, and when it can be again; warn must not block.
func StartIn(dir string, listen Listen, warn func(error), opts ...kfake.Opt) (*Broker, error) {
	if err := open(dir); err != nil {
		return nil, err
	}
	d := &disk{dir: dir, warn: warn}
	acks, err := newAcknowledgements(dir, d.fail)
	if err != nil {
		return nil, err
	}
	opts = append(opts, kfake.DataDir(dir), kfake.SyncWrites(), kfake.WithLogger(d), listenFn(listen, acks))
	return start(d, acks, opts)
}

// Start starts a Kafka in memory. The caller must close it.
func Start(opts ...kfake.Opt) (*Broker, error) {
	return start(nil, nil, append([]kfake.Opt{ListenFn(net.Listen)}, opts...))
}

func start(d *disk, acks *acknowledgements, opts []kfake.Opt) (*Broker, error) {
	cluster, err := kfake.NewCluster(append([]kfake.Opt{kfake.MaxVersions(versions())}, opts...)...)
	if err != nil {
		return nil, err
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...))
	if err != nil {
		cluster.Close()
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	b := &Broker{Cluster: cluster, client: client, stop: stop, stopped: make(chan struct{}), disk: d, acks: acks}
	if d != nil {
		d.refuse(cluster)
	}
	if acks != nil {
		go acks.noteEnds(ctx, cluster) // ends in Close
	}
	go b.keep(ctx, WatchMembers(cluster, client, callTime)) // ends in Close
	return b, nil
}

// keep removes members that are gone from their groups.
func (b *Broker) keep(ctx context.Context, members *Members) {
	defer close(b.stopped)
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			members.Expire(ctx)
			if b.disk != nil {
				b.disk.look()
			}
			if b.disk != nil && b.disk.err() == nil {
				b.acks.look(b.Cluster)
			}
		}
	}
}

// Broken returns why the broker refuses everything that it would have to write, or nil if it does not.
func (b *Broker) Broken() error {
	if b.disk == nil {
		return nil
	}
	return b.disk.err()
}

// Close ends the brokers. When it returns, everything that the data folder must keep is on disk.
func (b *Broker) Close() {
	b.stop()
	<-b.stopped // kfake does not respond once it is closed
	if b.acks != nil {
		<-b.acks.stopped
	}
	b.client.Close()
	b.Cluster.Close()
	if b.disk != nil && b.disk.err() == nil {
		_ = folderLayout.Seal(b.disk.dir) // the next start reads a folder without an inventory through
	}
}

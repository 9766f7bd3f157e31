package elastic

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/elastic/elastic-transport-go/v8/elastictransport"

	"brine/indexer"
)

// nodes is the transport's own pool, which avoids a node whose request failed, for a minute and then for longer. It does not see the body
// of an answer, so the engine reports nodes whose answers break off there, and nodes that answer that they cannot serve.
type nodes struct {
	elastictransport.ConnectionPool
	all []*elastictransport.Connection
}

func (n *nodes) open(all []*elastictransport.Connection, selector elastictransport.Selector) elastictransport.ConnectionPool {
	n.ConnectionPool, _ = elastictransport.NewConnectionPool(all, selector) // it has no error to return
	n.all = all
	return n
}

// ConcurrentSafe marks the pool as doing its own locking.
func (n *nodes) ConcurrentSafe() {}

// Close stops the goroutines that would retry the avoided nodes.
func (n *nodes) Close(ctx context.Context) error {
	if pool, ok := n.ConnectionPool.(elastictransport.CloseableConnectionPool); ok {
		return pool.Close(ctx)
	}
	return nil
}

// failed makes the pool avoid the node of a request. If no other node is left, it is used anyway.
func (n *nodes) failed(to *url.URL) {
	for _, c := range n.all {
		if c.URL.Host == to.Host && c.URL.Scheme == to.Scheme {
			_ = n.OnFailure(c) // an error means that it is avoided already
		}
	}
}

// cannotServe reports whether an answer concerns the node, or a proxy in front of it, instead of the request.
func cannotServe(status int) bool {
	return status == http.StatusBadGateway || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout
}

// ofNode reports whether another node may answer better.
func ofNode(err error) bool {
	var refused *indexer.RequestError
	return err != nil && (!errors.As(err, &refused) || cannotServe(refused.Status))
}

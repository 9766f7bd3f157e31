package elastic

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/elastic/elastic-transport-go/v8/elastictransport"

	"brine/indexer"
)

// nodes is the transport's own pool, which leaves out a node whose request failed, for a minute and then for longer. It does not see how an
// answer goes on after its header; the engine reports to it nodes that break off there, or that answer that they cannot serve.
type nodes struct {
	elastictransport.ConnectionPool
	all []*elastictransport.Connection
}

func (n *nodes) open(all []*elastictransport.Connection, selector elastictransport.Selector) elastictransport.ConnectionPool {
	n.ConnectionPool, _ = elastictransport.NewConnectionPool(all, selector) // it has no error to return
	n.all = all
	return n
}

// ConcurrentSafe says that the pool locks for itself.
func (n *nodes) ConcurrentSafe() {}

// Close ends what would try the nodes again that are left out.
func (n *nodes) Close(ctx context.Context) error {
	if pool, ok := n.ConnectionPool.(elastictransport.CloseableConnectionPool); ok {
		return pool.Close(ctx)
	}
	return nil
}

// failed leaves out the node that a request went to. When no other is left it is asked all the same.
func (n *nodes) failed(to *url.URL) {
	for _, c := range n.all {
		if c.URL.Host == to.Host && c.URL.Scheme == to.Scheme {
			_ = n.OnFailure(c) // that it is left out already
		}
	}
}

// cannotServe reports whether an answer is about the node, or what stands before it, rather than about what was asked.
func cannotServe(status int) bool {
	return status == http.StatusBadGateway || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout
}

// ofNode reports whether another node may answer better.
func ofNode(err error) bool {
	var refused *indexer.RequestError
	return err != nil && (!errors.As(err, &refused) || cannotServe(refused.Status))
}

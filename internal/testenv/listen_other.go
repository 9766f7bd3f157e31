//go:build !linux

package testenv

import (
	"net"
	"testing"
)

// Listen returns net.Listen: only on Linux are ports held for a server that starts again at its address.
func Listen(testing.TB) func(network, addr string) (net.Listener, error) { return net.Listen }

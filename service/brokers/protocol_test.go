package brokers

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kversion"

	"brine/config"
	"brine/ingest"
)

// TestProtocolThatBrokersLack checks that the brokers are queried only for the consumer protocol, and that it is an error if they lack it.
func TestProtocolThatBrokersLack(t *testing.T) {
	for name, c := range map[string]struct {
		opts []kfake.Opt
		want string
	}{
		"older": {[]kfake.Opt{kfake.MaxVersions(kversion.V3_6_0())}, "do not support the consumer protocol"},
		"newer": {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			broker, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, c.opts...)...)
			if err != nil {
				t.Fatal(err)
			}
			defer broker.Close()
			asks := Offsets{Client: Open(&config.Kafka{Brokers: broker.ListenAddrs(), RequestTimeout: time.Minute})}
			defer asks.Close()
			for _, protocol := range []ingest.GroupProtocol{ingest.Classic, ingest.Auto, ingest.Consumer} {
				want := ""
				if protocol == ingest.Consumer {
					want = c.want
				}
				err := asks.CheckProtocol(t.Context(), string(protocol))
				if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v, want %q", protocol, err, want)
				}
			}
		})
	}
}

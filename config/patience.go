package config

import "time"

// Within bounds how long the clients of the configuration wait for one answer, with all of their tries; the settings that say less stay. It
// is for commands with somebody before them: a loop waits for as long as it takes.
func (c *Config) Within(patience time.Duration) {
	c.Cluster.patience, c.Search.patience = patience, patience
	for _, d := range []*time.Duration{&c.Cluster.RPCTimeout, &c.Cluster.ScannerTimeout, &c.Cluster.DialTimeout, &c.Kafka.RequestTimeout, &c.Search.CallTimeout} {
		*d = min(*d, patience)
	}
}

package measure

import "os"

// Settings are settings of brine, by their names in the environment.
type Settings map[string]string

// connects are the settings with the servers' addresses, by the servers' names in the cluster's env file.
var connects = map[string]string{
	"KAFKA": "BRINE_KAFKA_BROKERS", "HBASE": "BRINE_HBASE_CONNECT", "HBASE_ZK": "BRINE_HBASE_CONNECT", "ELASTICSEARCH": "BRINE_SEARCH_CONNECT",
}

// Settings returns settings with the addresses of the cluster's servers, and a free port for brine.
func (c *Cluster) Settings(servers ...string) (s Settings, err error) {
	s = Settings{"BRINE_HTTP_LISTEN": "127.0.0.1:0"}
	for _, server := range servers {
		if s[connects[server]], err = c.Address("BRINE_REAL_" + server); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Lookup returns a setting, as os.LookupEnv does.
func (s Settings) Lookup(name string) (string, bool) {
	value, ok := s[name]
	return value, ok
}

// Environ returns the environment of a process with the settings.
func (s Settings) Environ() []string {
	env := os.Environ()
	for name, value := range s {
		env = append(env, name+"="+value)
	}
	return env
}

package config

import (
	"strings"
	"testing"
)

// process_memory must hold memory, the collector's headroom and the rest. Without the setting nothing is checked.
func TestProcessMemoryHoldsMemory(t *testing.T) {
	for name, c := range map[string]struct{ settings, says string }{
		"unset":       {"", ""},
		"enough":      {"process_memory: 106MiB\n", ""},
		"too little":  {"process_memory: 105MiB\n", "the collector's room and everything else, together 106MiB; write process_memory: 106MiB or more, or memory: 63MiB or less"},
		"much memory": {"process_memory: 256MiB\nmemory: 1GiB\n", "write process_memory: 1306MiB or more, or memory: 184MiB or less"},
		"little":      {"process_memory: 46MiB\nmemory: 16MiB\n", ""},
		"too small":   {"process_memory: 45MiB\nmemory: 16MiB\n", "46MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, problems := Parse("brine.yaml", []byte(minimal+c.settings), environ())
			switch err := problems.Err(); {
			case c.says == "" && err != nil, c.says != "" && (err == nil || !strings.Contains(problems.String(), c.says)):
				t.Errorf("%v, want %q", problems, c.says)
			case c.says == "" && name == "unset" && cfg.ProcessMemory != 0:
				t.Errorf("process_memory is %v unset", cfg.ProcessMemory)
			}
		})
	}
}

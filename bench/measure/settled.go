package measure

import (
	"encoding/json"
	"net/http"
	"strings"
)

// Settled asks the brine at url how many events lie below its watermarks, and how many behind them: those of halves whose names end so.
func Settled(client *http.Client, url, half string) (n, lag int, err error) {
	resp, err := client.Get(url + "/healthz")
	if err != nil {
		return 0, 0, err
	}
	defer resp.Body.Close()
	var health struct {
		Halves map[string]struct {
			Partitions []struct {
				Watermark int `json:"watermark"`
				End       int `json:"end"`
			} `json:"partitions"`
		} `json:"partitions"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&health); err != nil {
		return 0, 0, err
	}
	for name, h := range health.Halves {
		if !strings.HasSuffix(name, half) {
			continue
		}
		for _, p := range h.Partitions {
			n += max(0, p.Watermark) // −1 while its start is unknown
			lag += max(0, p.End-max(0, p.Watermark))
		}
	}
	return n, lag, nil
}

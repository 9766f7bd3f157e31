package measure

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Settled asks the brine at url for the number of events below its watermarks, and of those after them, in halves whose names end in half.
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

// LiveRate measures how many events per second brine settles while more are published, over the time long, once it has run for warm. lag is
// how far it was behind at the end; if it is 0, brine could do more.
func LiveRate(url, half string, warm, long time.Duration) (rate float64, lag int, err error) {
	client := &http.Client{Timeout: 5 * time.Second}
	time.Sleep(warm)
	from, _, err := Settled(client, url, half)
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	time.Sleep(long)
	to, lag, err := Settled(client, url, half)
	return float64(to-from) / time.Since(began).Seconds(), lag, err
}

// CaughtUp waits until brine has settled everything that was published.
func CaughtUp(url string, limit time.Duration) error {
	client := &http.Client{Timeout: 5 * time.Second}
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if n, lag, err := Settled(client, url, ""); err != nil || n > 0 && lag == 0 {
			return err
		}
	}
	return fmt.Errorf("brine did not catch up within %v", limit)
}

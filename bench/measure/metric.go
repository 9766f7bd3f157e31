package measure

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// Metric reads the sum of a metric over its labels from a process.
func Metric(url, name string) (sum float64, err error) {
	resp, err := http.Get(url)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+"{"); ok {
			_, number, _ := strings.Cut(rest, "} ")
			n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
			if err != nil {
				return 0, fmt.Errorf("metric %s: %w", name, err)
			}
			sum += n
		}
	}
	return sum, nil
}

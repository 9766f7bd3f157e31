package term

import "testing"

func TestSize(t *testing.T) {
	for bytes, want := range map[float64]string{
		0: "0 bytes", 1023: "1023 bytes", 1024: "1 KiB", 1.5 * (1 << 20): "1.5 MiB", 1023 << 20: "1,023 MiB", 999 << 10: "999 KiB",
		50 << 30: "50 GiB", 542 << 40: "542 TiB", 3 << 50: "3 PiB", 2e6 * (1 << 50): "2,000,000 PiB",
	} {
		if got := Size(bytes); got != want {
			t.Errorf("%.0f bytes are %s, want %s", bytes, got, want)
		}
	}
}

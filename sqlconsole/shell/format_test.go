package shell

import "testing"

// A spreadsheet takes the wide forms of the signs for the signs.
func TestUnformula(t *testing.T) {
	for text, want := range map[string]string{"": "", "W-1": "W-1", "=1": "'=1", "+1": "'+1", "-1": "'-1", "@A": "'@A", "\t=1": "'\t=1",
		"＝1": "'＝1", "＋1": "'＋1", "－1": "'－1", "＠A": "'＠A", "件=1": "件=1", "\xff=": "\xff="} {
		if got := unformula(text); got != want {
			t.Errorf("%q: %q, expected %q", text, got, want)
		}
	}
}

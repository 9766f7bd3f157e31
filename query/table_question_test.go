package query

import (
	"errors"
	"testing"
)

// TestTableQuestionsNameWhatIsWrong checks that the fault of a question about a table names its argument, or the option of the request.
func TestTableQuestionsNameWhatIsWrong(t *testing.T) {
	table := shopTable(t, newestFirst)
	bare := table
	bare.Index = nil
	other := keysTable(t)
	for _, tt := range []struct {
		table  Table
		ask    Request
		arg    string
		option bool
	}{
		{table, Request{Args: []string{"courier=x"}}, "courier", false},
		{table, Request{Args: []string{"user"}}, "", false},
		{table, Request{Args: []string{"status=paid", "status=sent"}}, "status", false},
		{table, Request{Args: []string{"made=soon.."}}, "made", false},
		{bare, Request{Args: []string{"status=paid"}}, "status", false},
		{bare, Request{Args: []string{"user=u", "created=soon"}}, "created", false},
		{table, Request{Args: []string{"user=u"}, After: "x"}, "after", true},
		{table, Request{Args: []string{"user=u"}, Families: []string{"z"}}, "families", true},
		{table, Request{Args: []string{"status=paid"}, Families: []string{"b"}}, "families", true},
		{table, Request{Args: []string{"status=paid"}, Get: &other}, "get", true},
		{table, Request{Args: []string{"user=u"}, Get: &other}, "get", true},
	} {
		_, err := tt.table.Question(tt.ask)
		fault, ok := errors.AsType[*Fault](err)
		if !ok || fault.Arg != tt.arg || fault.Option != tt.option {
			t.Errorf("%+v: %v is of %+v, want of %q", tt.ask, err, fault, tt.arg)
		}
	}
}

func TestTableQuestionsAreTheKeysOrTheIndexs(t *testing.T) {
	table := shopTable(t, newestFirst)
	for arg, byIndex := range map[string]bool{"user=u": false, "status=paid": true, "text=tea": true} {
		q, err := table.Question(Request{Args: []string{arg}, Families: nil})
		if err != nil || q.ByIndex() != byIndex {
			t.Errorf("%s: %v, by the index %t", arg, err, !byIndex)
		}
	}
}

package operations

import (
	"context"
	"slices"
	"unicode/utf8"

	"brine/ingest/deadletter"
	"brine/internal/when"
	"brine/mask"
	"brine/rowkey"
	"brine/serve/client"
	"brine/service"
	"brine/service/brokers"
	"brine/service/letters"
)

// scan returns a scan of the selected dead letters, for a caller who sees what rules do not mask.
func (o *Operations) scan(ctx context.Context, of client.DeadLettersOf, rules *mask.Rules) (*brokers.DeadLetters, error) {
	filter, err := o.filter(&of, rules)
	if err != nil {
		return nil, err
	}
	return brokers.NewDeadLetters(ctx, o.cfg(), of.Pipeline, of.Half, filter)
}

// filter parses which dead letters are selected, for a caller who sees what rules do not mask.
func (o *Operations) filter(of *client.DeadLettersOf, rules *mask.Rules) (out deadletter.Filter, err error) {
	if of.Pipeline != "" {
		if _, err := o.pipeline(of.Pipeline); err != nil {
			return out, err
		}
	}
	if err := halfKind(of.Half); err != nil {
		return out, err
	}
	if of.Text != "" && (!rules.Nothing() || !o.cfg().Mask().Nothing()) {
		return out, misused("text: it searches records, but pipelines mask fields")
	}
	asked := letters.Asked{Reasons: of.Reasons, Since: of.Since, Until: of.Until, Partitions: of.Partitions, Text: of.Text, All: of.All}
	if of.Key != "" {
		asked.Key = &of.Key
	}
	out, err = asked.Filter(o.now())
	return out, asFields(err)
}

// DeadLetters implements serve.Operations.
func (o *Operations) DeadLetters(ctx context.Context, of client.DeadLettersOf, after string, most int,
	rules *mask.Rules) (client.DeadLetters, error) {
	out := client.DeadLetters{DeadLetters: []client.DeadLetter{}}
	scan, err := o.scan(ctx, of, rules)
	if err != nil {
		return out, err
	}
	place := deadletter.Place{}
	if after != "" {
		place, err = deadletter.ParsePlace(after)
		known := slices.ContainsFunc(scan.Topics, func(t deadletter.Options) bool { return t.Topic == place.Topic })
		if err != nil || place.Topic == "" || !known {
			return out, misused("page_token: not the token of a previous page; copy it unchanged from an answer, with the same parameters")
		}
	}
	last := ""
	for l, err := range scan.Letters(ctx, place) {
		switch {
		case err != nil:
			return out, service.IngestError(err)
		case len(out.DeadLetters) == most:
			out.Next = last
			return out, nil
		}
		last = l.Place.String()
		out.DeadLetters = append(out.DeadLetters, letter(scan, rules, l, false))
	}
	return out, nil
}

// letter returns a dead letter as it may be shown. Headers, value and fix are included only if whole is set.
func letter(scan *brokers.DeadLetters, rules *mask.Rules, l *deadletter.Kept, whole bool) client.DeadLetter {
	out := client.DeadLetter{Pipeline: scan.Name(l.Group), Topic: l.Record.Topic, Partition: l.Record.Partition, Offset: l.Record.Offset,
		Time: when.Text(l.Record.Timestamp), Reason: string(l.Reason), Field: l.Field, Detail: l.Detail, Written: timeText(l.Time),
		Place: l.Place.String(), Key: shown(l.Record.Key)}
	if !l.Replayed.IsZero() {
		out.Replayed, out.Let = timeText(l.Replayed), l.Let
	}
	if whole {
		out.Fix, out.Value = deadletter.Fix(l.Reason), shown(l.Record.Value)
		for _, h := range l.Record.Headers {
			out.Headers = append(out.Headers, client.DeadHeader{Name: h.Key, Value: shown(h.Value)})
		}
	}
	covered := letters.Cover(scan, rules, l)
	if covered == nil {
		covered = letters.Cover(scan, scan.Mask(), l)
	}
	if covered == nil {
		return out
	}
	out.Masked, out.Key, out.Detail, out.Let, out.Value, out.Headers = true, covered.Key, covered.Detail, "", "", nil
	if whole {
		out.Value, out.Fields = covered.Value, map[string]string{}
		for _, f := range covered.Fields {
			out.Fields[f.Name] = f.Text
		}
	}
	return out
}

// shown returns b as text if it is UTF-8, and otherwise with \xNN escapes.
func shown(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return rowkey.Binary(b)
}

// DeadLetter implements serve.Operations.
func (o *Operations) DeadLetter(ctx context.Context, record, pipeline string, rules *mask.Rules) (client.DeadLetters, error) {
	out := client.DeadLetters{DeadLetters: []client.DeadLetter{}}
	place, err := deadletter.ParsePlace(record)
	if err != nil {
		return out, misused("record: %w", err)
	}
	scan, err := o.scan(ctx, client.DeadLettersOf{Pipeline: pipeline, Partitions: []int{place.Partition}, All: true}, rules)
	if err != nil {
		return out, err
	}
	scan.Filter.Offset = &place.Offset
	for l, err := range scan.Letters(ctx, deadletter.Place{}) {
		if err != nil {
			return out, service.IngestError(err)
		}
		if place.Topic == "" || l.Record.Topic == place.Topic {
			out.DeadLetters = append(out.DeadLetters, letter(scan, rules, l, true))
		}
	}
	if len(out.DeadLetters) == 0 {
		return out, missing("there is no dead letter of the record at %s", record)
	}
	return out, nil
}

// DeadLetterSums implements serve.Operations.
func (o *Operations) DeadLetterSums(ctx context.Context, of client.DeadLettersOf, rules *mask.Rules) (client.DeadLetterSums, error) {
	out := client.DeadLetterSums{Sums: []client.DeadLetterSum{}}
	scan, err := o.scan(ctx, of, rules)
	if err != nil {
		return out, err
	}
	sums, err := deadletter.Summarize(scan.Letters(ctx, deadletter.Place{}), deadletter.By{Reason: true, Field: true, Schema: scan.Schema})
	if err != nil {
		return out, service.IngestError(err)
	}
	for _, sum := range sums {
		s := sum.Object(scan.Name(sum.Group), scan.Several)
		out.Sums = append(out.Sums, client.DeadLetterSum{Pipeline: s.Pipeline, Reason: string(s.Reason), Field: s.Field, Schema: s.Schema,
			Other: s.Other, Letters: s.Letters, First: timeText(s.First), Last: timeText(s.Last), Example: s.Example})
	}
	return out, nil
}

package derive

import (
	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/types"
)

// maxText is the longest text that an expression may look at. A longer one is an error of its event. With maxCost, it bounds what an event
// can cost.
const maxText = 64 << 10 // bytes

// maxCost is the largest cost of one expression, in CEL's units: one is a comparison, or ten bytes that are read or copied. It allows a
// text made of two dozen others of maximum length.
const maxCost = 2_000_000

// estimator knows what CEL does not: how long fields can be, and the results of conversions and our functions.
type estimator struct{}

func (estimator) EstimateSize(n cost.AstNode) *cost.SizeEstimate {
	if len(n.Path()) != 1 {
		return nil
	}
	if n.Type().IsExactType(cel.StringType) || n.Type().IsExactType(cel.NullableType(cel.StringType)) {
		return &cost.SizeEstimate{Max: maxText}
	}
	return &cost.SizeEstimate{Min: 1, Max: 1}
}

// printed is the length of the texts to which conversions turn values that have no length of their own.
var printed = map[string]uint64{
	"bool_to_string": 5, "int64_to_string": 20, "uint64_to_string": 20, "double_to_string": 24, "timestamp_to_string": 48,
	"duration_to_string": 32,
}

// scanned are overloads that read each byte of their texts once, and return texts that are no longer.
var scanned = map[string]bool{
	"contains_string": true, "string_lowerAscii": true, "string_upperAscii": true, "string_trim": true, "string_substring": true,
	"string_substring_from": true, "string_to_timestamp": true, "string_to_duration": true, "string_to_int64": true,
	"string_to_double": true, "string_to_string": true, "equals": true, "not_equals": true, "less_string": true, "less_equals_string": true,
	"greater_string": true, "greater_equals_string": true, "starts_with_string": true, "ends_with_string": true, "size_string": true,
	"string_size": true,
}

func (e estimator) EstimateCallCost(_, overload string, target *cost.AstNode, args []cost.AstNode) *cost.CallEstimate {
	if n, ok := printed[overload]; ok {
		return &cost.CallEstimate{CostEstimate: cost.FixedCostEstimate(10), ResultSize: &cost.SizeEstimate{Min: 1, Max: n}}
	}
	if !scanned[overload] {
		return nil
	}
	if target != nil {
		args = append([]cost.AstNode{*target}, args...)
	}
	read, texts := cost.FixedSizeEstimate(0), 0
	for _, a := range args {
		if size := e.sizeOf(a); size != nil {
			read = read.Add(*size)
			texts++
		} else if isText(a.Type()) {
			return nil // CEL's own estimate has no bound either
		}
	}
	if texts == 0 {
		return nil
	}
	made := read
	made.Min = 0
	return &cost.CallEstimate{CostEstimate: read.MultiplyByCostFactor(0.1).Add(cost.FixedCostEstimate(1)), ResultSize: &made}
}

// sizeOf returns the size of a text, or nil if it is no text or of unknown size.
func (e estimator) sizeOf(n cost.AstNode) *cost.SizeEstimate {
	if !isText(n.Type()) {
		return nil
	}
	if size := n.ComputedSize(); size != nil {
		return size
	}
	return e.EstimateSize(n)
}

func isText(t *types.Type) bool {
	return t.Kind() == types.StringKind || t.IsExactType(cel.NullableType(cel.StringType))
}

package config

// View is one of views: a kind of question that people ask. `brine check` refuses one that neither the key nor the index answers.
type View struct {
	Name string `set:",key"`
	// The table whose rows answer.
	Table string `set:"table,required" example:"logistics:scans"`
	// The fields that every question gives, each with one value; with two dots, a range instead.
	Where []string `set:"where" example:"[waybill]"`
	// The fields that a question may give besides, in any combination; with two dots, a value or a range.
	Optional []string `set:"optional" example:"[at.., station]"`
	// The order of the answer, by the first time in the key; without it, that of the key.
	Order string `set:"order" oneof:"newest oldest" example:"newest"`
	// Rows of a page, unless the question says how many: with 1 it is the newest, or the oldest, alone.
	Limit int `set:"limit" default:"100" min:"1" max:"10000"`
	// The families that a page reads; the others are read when a row is shown whole (`--whole`). Without it: all.
	Families []string `set:"families" example:"[brief]"`
	// Another table, whose rows are shown instead: found by the fields of these, with one batched get.
	Get string `set:"get" example:"shop:orders"`
	// Fields of the index by whose values `--count` counts, beside how many rows there are.
	Counts []string `set:"counts" example:"[status]"`
}

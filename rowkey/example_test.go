package rowkey_test

import (
	"fmt"
	"log"

	"brine/rowkey"
)

var courierFields = []rowkey.Field{
	{Name: "waybill", Type: rowkey.Text}, {Name: "at", Type: rowkey.Time}, {Name: "action", Type: rowkey.Text},
}

func Example() {
	key, err := rowkey.Parse(`md5(waybill, 4) + waybill + "|" + desc(at, ms) + "|" + action`, courierFields)
	if err != nil {
		log.Fatal(err)
	}
	row, err := key.Append(nil, []rowkey.Value{
		rowkey.TextValue("YT1001"), rowkey.TimeValue(1353387939742), rowkey.TextValue("ARRIVE"),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rowkey.Binary(row))

	values, err := key.Decode(row)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(key.Fields(), values)
	// Output:
	// 9e0aYT1001|\x7F\xFF\xFE\xC4\xE3\xCA\xE8a|ARRIVE
	// [waybill at action] [YT1001 2012-11-20T05:05:39.742Z ARRIVE]
}

func ExampleParse() {
	_, err := rowkey.Parse(`md5(waybil, 4) + waybill`, courierFields)
	fmt.Println(err)
	// Output: there is no field waybil; did you mean waybill?
}

func ExampleKey_Ranges() {
	key, err := rowkey.Parse(`md5(waybill, 4) + waybill + "|" + desc(at, ms)`, courierFields)
	if err != nil {
		log.Fatal(err)
	}
	ranges, err := key.Ranges(map[string]rowkey.Bound{
		"waybill": {Equal: rowkey.TextValue("YT1001")},
		"at":      {From: rowkey.TimeValue(1353387939742)}, // and later
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range ranges {
		fmt.Println(rowkey.Binary(r.Start), "to", rowkey.Binary(r.Stop))
	}
	// Output: 9e0aYT1001| to 9e0aYT1001|\x7F\xFF\xFE\xC4\xE3\xCA\xE8b
}

func ExampleKey_Splits() {
	key, err := rowkey.Parse(`md5(waybill, 4) + waybill`, courierFields)
	if err != nil {
		log.Fatal(err)
	}
	points, err := key.Splits(4)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", points)
	// Output: [4000 8000 c000]
}

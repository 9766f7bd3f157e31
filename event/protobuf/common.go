package protobuf

// common are files that everybody imports and nobody registers: those whose messages brine treats as more than their fields, or that
// registries know. A file in the schema's own folder, or one of its own references, takes precedence.
var common = map[string]string{
	"google/type/date.proto": `syntax = "proto3"; package google.type;
message Date { int32 year = 1; int32 month = 2; int32 day = 3; }`,
	"google/type/timeofday.proto": `syntax = "proto3"; package google.type;
message TimeOfDay { int32 hours = 1; int32 minutes = 2; int32 seconds = 3; int32 nanos = 4; }`,
	"google/type/money.proto": `syntax = "proto3"; package google.type;
message Money { string currency_code = 1; int64 units = 2; int32 nanos = 3; }`,
	"google/type/decimal.proto": `syntax = "proto3"; package google.type;
message Decimal { string value = 1; }`,
	"google/type/latlng.proto": `syntax = "proto3"; package google.type;
message LatLng { double latitude = 1; double longitude = 2; }`,
	"confluent/type/decimal.proto": `syntax = "proto3"; package confluent.type;
message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }`,
	"confluent/meta.proto": `syntax = "proto3"; package confluent;
import "google/protobuf/descriptor.proto";
message Meta { string doc = 1; map<string, string> params = 2; repeated string tags = 3; }
extend google.protobuf.FileOptions { Meta file_meta = 1088; }
extend google.protobuf.MessageOptions { Meta message_meta = 1088; }
extend google.protobuf.FieldOptions { Meta field_meta = 1088; }
extend google.protobuf.EnumOptions { Meta enum_meta = 1088; }
extend google.protobuf.EnumValueOptions { Meta enum_value_meta = 1088; }`,
}

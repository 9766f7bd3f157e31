package measure

import (
	"context"
	"errors"

	"brine/hbase"
)

// Drop deletes a table if it exists.
func Drop(ctx context.Context, admin *hbase.Client, table string) error {
	_, err := admin.Describe(ctx, table)
	if errors.Is(err, hbase.ErrNoTable) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := admin.DisableTable(ctx, table); err != nil {
		return err
	}
	return admin.DeleteTable(ctx, table)
}

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.SnapshotDescription;
import org.apache.hadoop.hbase.client.SnapshotType;

/** The operations of Conform with snapshots. */
final class Snapshots {
  private Snapshots() {}

  static void take(Admin admin, TableName table, String name, String type) throws IOException {
    admin.snapshot(name, table, SnapshotType.valueOf(type.toUpperCase(Locale.ROOT)));
  }

  /** The snapshots of a table by name: releases differ in what they call one of a disabled table. */
  static List<String> list(Admin admin, TableName table) throws IOException {
    List<SnapshotDescription> found = new ArrayList<>(admin.listSnapshots());
    found.removeIf(s -> !table.equals(s.getTableName()));
    found.sort(Comparator.comparing(SnapshotDescription::getName));
    List<String> out = new ArrayList<>();
    found.forEach(s -> out.add(s.getName()));
    out.add(found.size() + " snapshots");
    return out;
  }
}

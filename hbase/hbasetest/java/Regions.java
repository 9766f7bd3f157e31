import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.hbase.HRegionLocation;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionLocator;

/** What scripts do to the regions of tables. */
final class Regions {
  private final Connection connection;
  private final Admin admin;

  Regions(Connection connection, Admin admin) {
    this.connection = connection;
    this.admin = admin;
  }

  /** split splits the region that has the key there. */
  void split(TableName table, String key) throws Exception {
    admin.splitRegionAsync(locate(table, key).getRegion().getRegionName(), Text.bytes(key)).get();
  }

  /** merge makes one region of those that have the rows. */
  void merge(TableName table, String[] rows) throws Exception {
    byte[][] names = new byte[rows.length][];
    for (int i = 0; i < rows.length; i++) {
      names[i] = locate(table, rows[i]).getRegion().getEncodedNameAsBytes();
    }
    admin.mergeRegionsAsync(names, false).get();
  }

  /** move takes the region that has a row to another server. Where there is only one it stays, as the master has it. */
  void move(TableName table, String row) throws Exception {
    HRegionLocation before = locate(table, row);
    admin.move(before.getRegion().getEncodedNameAsBytes());
    if (admin.getRegionServers().size() > 1 && locate(table, row).getServerName().equals(before.getServerName())) {
      throw new IOException("the region is on " + before.getServerName() + " still");
    }
  }

  /** alter gives a family other attributes; the server then opens all regions again, where they are. */
  void alter(TableName table, String word) throws Exception {
    String[] parts = word.split(";");
    ColumnFamilyDescriptor before = admin.getDescriptor(table).getColumnFamily(Text.bytes(parts[0]));
    ColumnFamilyDescriptorBuilder family = ColumnFamilyDescriptorBuilder.newBuilder(before);
    for (String attribute : Arrays.asList(parts).subList(1, parts.length)) {
      String[] pair = attribute.split("=", 2);
      family.setValue(pair[0], pair[1]);
    }
    admin.modifyColumnFamily(table, family.build());
  }

  /** compact flushes, starts a major compaction and returns when no region says that it is at it. */
  void compact(TableName table) throws Exception {
    admin.flush(table);
    admin.majorCompact(table);
    long end = System.currentTimeMillis() + 30_000;
    while (admin.getCompactionState(table) != CompactionState.NONE) {
      if (System.currentTimeMillis() > end) {
        throw new IOException("still compacting after 30 s");
      }
      Thread.sleep(20);
    }
  }

  /** locate reads hbase:meta: what the client has cached may be gone. */
  private HRegionLocation locate(TableName table, String row) throws IOException {
    try (RegionLocator locator = connection.getRegionLocator(table)) {
      byte[] key = Text.bytes(row);
      for (HRegionLocation location : locator.getAllRegionLocations()) {
        RegionInfo region = location.getRegion();
        if (region.containsRow(key)) {
          return location;
        }
      }
    }
    throw new IOException("no region of " + table + " has " + row);
  }
}

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.security.provider.SaslClientAuthenticationProviders;

/**
 * Counts a table's rows with HBase's own client and digests its cells: SHA-256 over every version of every cell in scan
 * order, each as row, family, qualifier (32-bit length and bytes), timestamp (64 bits), type (8 bits), value (length and
 * bytes), all big-endian. digest.go is the same in Go.
 *
 * <p>Usage: RowDigest rpc://host:port table. Prints "rows=N cells=N sha256=HEX".
 */
public final class RowDigest {
  private RowDigest() {}

  public static void main(String[] args) throws Exception {
    try (Connection connection = connect(args[0]); Table table = connection.getTable(TableName.valueOf(args[1]))) {
      System.out.println(digest(table));
    }
    System.exit(0); // the client's threads linger
  }

  /**
   * Connects by the connection registry of the masters in "rpc://host:port,…", or by the ZooKeeper in "zk://host:port[/hbase]".
   *
   * <p>HBase 2.6.4's client keeps, for the whole JVM, how it authenticates as the first one who asks has it configured. By the
   * connection registry that is its question for the cluster's id, which it asks without security: with Kerberos it would then show
   * nobody a ticket. So ours is asked for first. By ZooKeeper there is no such question.
   */
  static Connection connect(String address) throws Exception {
    Configuration conf = HBaseConfiguration.create();
    if (address.startsWith("zk://")) {
      String[] zk = address.substring("zk://".length()).split("/")[0].split(":");
      conf.set("hbase.client.registry.impl", "org.apache.hadoop.hbase.client.ZKConnectionRegistry");
      conf.set("hbase.zookeeper.quorum", zk[0]);
      conf.set("hbase.zookeeper.property.clientPort", zk[1]);
    } else {
      String servers = address.replaceFirst("^rpc://", "");
      conf.set("hbase.client.registry.impl", "org.apache.hadoop.hbase.client." + registry());
      conf.set("hbase.client.bootstrap.servers", servers);
      conf.set("hbase.masters", servers);
      SaslClientAuthenticationProviders.getInstance(conf);
    }
    conf.setInt("hbase.client.retries.number", 10);
    conf.setInt("hbase.client.pause", 50);
    conf.setInt("hbase.rpc.timeout", 20_000);
    conf.setInt("hbase.client.operation.timeout", 60_000);
    conf.setInt("hbase.client.keyvalue.maxsize", 0); // let the server judge
    return ConnectionFactory.createConnection(conf);
  }

  /** Before HBase 2.5 only masters were asked. */
  private static String registry() {
    try {
      return Class.forName("org.apache.hadoop.hbase.client.RpcConnectionRegistry").getSimpleName();
    } catch (ClassNotFoundException e) {
      return "MasterRegistry";
    }
  }

  static String digest(Table table) throws Exception {
    MessageDigest sha = MessageDigest.getInstance("SHA-256");
    long rows = 0;
    long cells = 0;
    try (ResultScanner scanner = table.getScanner(new Scan().readAllVersions().setCaching(10_000))) {
      for (Result row : scanner) {
        rows++;
        for (Cell c : row.rawCells()) {
          cells++;
          add(sha, CellUtil.cloneRow(c));
          add(sha, CellUtil.cloneFamily(c));
          add(sha, CellUtil.cloneQualifier(c));
          sha.update(ByteBuffer.allocate(9).putLong(c.getTimestamp()).put(c.getType().getCode()).array());
          add(sha, CellUtil.cloneValue(c));
        }
      }
    }
    return "rows=" + rows + " cells=" + cells + " sha256=" + hex(sha.digest());
  }

  static String hex(byte[] b) {
    StringBuilder out = new StringBuilder();
    for (byte x : b) {
      out.append(String.format("%02x", x & 0xff));
    }
    return out.toString();
  }

  private static void add(MessageDigest sha, byte[] b) {
    sha.update(ByteBuffer.allocate(4).putInt(b.length).array());
    sha.update(b);
  }
}

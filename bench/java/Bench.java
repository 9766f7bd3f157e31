import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;

/** What the programs that write and that read have in common: how they connect, their keys, and what they cost. */
final class Bench {
  static final byte[] HEX = "0123456789abcdef".getBytes();

  private Bench() {}

  static Connection connect(String address) throws Exception {
    Configuration conf = HBaseConfiguration.create();
    conf.set("hbase.client.registry.impl", "org.apache.hadoop.hbase.client.RpcConnectionRegistry");
    conf.set("hbase.client.bootstrap.servers", address.replaceFirst("^rpc://", ""));
    return ConnectionFactory.createConnection(conf);
  }

  /** key is that of row i: two hexadecimal digits that spread the rows, and the row's number. */
  static byte[] key(int i, int keyBytes) {
    byte[] key = new byte[keyBytes];
    int salt = (i * 0x9E3779B1) >>> 24;
    key[0] = HEX[salt >>> 4];
    key[1] = HEX[salt & 15];
    for (int at = keyBytes - 1; at > 1; at--) {
      key[at] = (byte) ('0' + i % 10);
      i /= 10;
    }
    return key;
  }

  static long cpuNanos() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
  }

  static double peakMiB() throws Exception {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("VmHWM:")) {
        return Long.parseLong(line.replaceAll("[^0-9]", "")) / 1024.0;
      }
    }
    throw new IllegalStateException("no VmHWM");
  }
}

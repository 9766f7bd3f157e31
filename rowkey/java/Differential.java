import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import org.apache.hadoop.hbase.client.ClientUtil;
import org.apache.hadoop.hbase.util.ByteArrayHashKey;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.MD5Hash;
import org.apache.hadoop.hbase.util.MurmurHash3;
import org.apache.hadoop.hbase.util.Order;
import org.apache.hadoop.hbase.util.OrderedBytes;
import org.apache.hadoop.hbase.util.SimplePositionedMutableByteRange;

/**
 * What HBase's own classes make of values: each line of the input is the name of a function and its arguments, each line
 * of the output the bytes in hex, or the sign of a comparison.
 */
final class Differential {
  private Differential() {}

  public static void main(String[] args) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    PrintStream out = new PrintStream(System.out, false, "UTF-8");
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      out.println(answer(line.split(" ", -1)));
    }
    out.flush();
  }

  private static String answer(String[] w) {
    switch (w[0]) {
      case "text":
        return hex(Bytes.toBytes(new String(bytes(w[1]), StandardCharsets.UTF_8)));
      case "compare":
        return Integer.toString(Integer.signum(Bytes.compareTo(bytes(w[1]), bytes(w[2]))));
      case "next":
        return hex(ClientUtil.calculateTheClosestNextRowKeyForPrefix(bytes(w[1])));
      case "md5":
        return hex(Bytes.toBytes(MD5Hash.getMD5AsHex(bytes(w[1]))));
      case "murmur3":
        return hex(Bytes.toBytes(MurmurHash3.getInstance().hash(new ByteArrayHashKey(bytes(w[1]), 0, w[1].length() / 2), 0)));
      default:
        return w[0].startsWith("ordered-") ? hex(ordered(w[0], w[1])) : hex(counted(w[0], Long.parseLong(w[1])));
    }
  }

  /** Numbers counted down as people write them in Java, and text of them. */
  private static byte[] counted(String how, long n) {
    switch (how) {
      case "long": return Bytes.toBytes(n);
      case "int": return Bytes.toBytes((int) n);
      case "max-long": return Bytes.toBytes(Long.MAX_VALUE - n);
      case "max-int": return Bytes.toBytes(Integer.MAX_VALUE - (int) n);
      case "max-short": return Bytes.toBytes((short) (Short.MAX_VALUE - n));
      case "max-byte": return new byte[] {(byte) (Byte.MAX_VALUE - n)};
      case "max-long-text": return Bytes.toBytes(String.format("%019d", Long.MAX_VALUE - n));
      case "max-int-text": return Bytes.toBytes(String.format("%010d", Integer.MAX_VALUE - n));
      case "digits": return Bytes.toBytes(String.format("%012d", n));
      case "reversed": return Bytes.toBytes(new StringBuilder(Long.toString(n)).reverse().toString());
      default: throw new IllegalArgumentException(how);
    }
  }

  /** HBase's OrderedBytes, without their first byte, which names the type. */
  private static byte[] ordered(String how, String value) {
    Order order = how.endsWith("-desc") ? Order.DESCENDING : Order.ASCENDING;
    SimplePositionedMutableByteRange range = new SimplePositionedMutableByteRange(16);
    int n;
    switch (how.replaceAll("-(asc|desc)$", "")) {
      case "ordered-int8": n = OrderedBytes.encodeInt8(range, Byte.parseByte(value), order); break;
      case "ordered-int16": n = OrderedBytes.encodeInt16(range, Short.parseShort(value), order); break;
      case "ordered-int32": n = OrderedBytes.encodeInt32(range, Integer.parseInt(value), order); break;
      case "ordered-int64": n = OrderedBytes.encodeInt64(range, Long.parseLong(value), order); break;
      case "ordered-float32": n = OrderedBytes.encodeFloat32(range, (float) Double.longBitsToDouble(Long.parseLong(value)), order); break;
      case "ordered-float64": n = OrderedBytes.encodeFloat64(range, Double.longBitsToDouble(Long.parseLong(value)), order); break;
      default: throw new IllegalArgumentException(how);
    }
    return Arrays.copyOfRange(range.getBytes(), 1, n);
  }

  private static byte[] bytes(String hex) { return HexFormat.of().parseHex(hex); }

  private static String hex(byte[] b) { return HexFormat.of().formatHex(b); }
}

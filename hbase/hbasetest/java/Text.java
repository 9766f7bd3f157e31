import java.io.ByteArrayOutputStream;
import java.security.MessageDigest;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;

/** How the scripts write bytes, times and cells; text.go is the same in Go. */
final class Text {
  static final String PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-|";

  /** "now" in scripts: the time at which this program started, in ms. */
  static final long NOW = System.currentTimeMillis();

  private Text() {}

  /** Bytes of a word: plain characters, \xHH, and *N at the end for N times what stands before. */
  static byte[] bytes(String word) {
    int star = word.lastIndexOf('*');
    if (star >= 0) {
      byte[] once = bytes(word.substring(0, star));
      int n = Integer.parseInt(word.substring(star + 1));
      ByteArrayOutputStream out = new ByteArrayOutputStream(once.length * n);
      for (int i = 0; i < n; i++) {
        out.write(once, 0, once.length);
      }
      return out.toByteArray();
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int i = 0; i < word.length(); i++) {
      if (word.charAt(i) == '\\') {
        out.write(Integer.parseInt(word.substring(i + 2, i + 4), 16));
        i += 3;
      } else {
        out.write(word.charAt(i));
      }
    }
    return out.toByteArray();
  }

  /** The word of bytes; of more than 64 bytes their number and the beginning of their SHA-256. */
  static String word(byte[] b) throws Exception {
    if (b.length > 64) {
      return b.length + " bytes " + RowDigest.hex(MessageDigest.getInstance("SHA-256").digest(b)).substring(0, 16);
    }
    StringBuilder out = new StringBuilder();
    for (byte x : b) {
      int c = x & 0xff;
      out.append(PLAIN.indexOf(c) >= 0 ? String.valueOf((char) c) : String.format("\\x%02X", c));
    }
    return out.toString();
  }

  /** A timestamp: ms, or now, now-N, now+N. */
  static long time(String word) {
    if (!word.startsWith("now")) {
      return Long.parseLong(word);
    }
    return word.length() == 3 ? NOW : NOW + Long.parseLong(word.substring(3));
  }

  static String time(long t) {
    long d = t - NOW;
    if (Math.abs(d) > 1_000_000_000L) {
      return Long.toString(t);
    }
    return d == 0 ? "now" : "now" + (d > 0 ? "+" : "") + d;
  }

  static String cell(Cell c) throws Exception {
    String head = word(CellUtil.cloneRow(c)) + " " + word(CellUtil.cloneFamily(c)) + ":" + word(CellUtil.cloneQualifier(c)) + "@"
        + time(c.getTimestamp());
    switch (c.getType()) {
      case Put: return head + "=" + word(CellUtil.cloneValue(c));
      case Delete: return head + "/version";
      case DeleteColumn: return head + "/column";
      case DeleteFamily: return head + "/family";
      case DeleteFamilyVersion: return head + "/family-version";
      default: return head + "/" + c.getType();
    }
  }

  /** The family and the qualifier of "family:qualifier". */
  static byte[][] column(String word) {
    String[] column = word.split(":", 2);
    return new byte[][] {bytes(column[0]), bytes(column.length < 2 ? "" : column[1])};
  }

  /** One word "family:qualifier@time=value" or "family:qualifier@time/kind"; what is absent is empty. */
  static final class CellWord {
    final byte[] family;
    final byte[] qualifier;
    final byte[] value;
    final long time;
    final String kind;

    CellWord(String word) {
      int eq = word.indexOf('=');
      int slash = eq < 0 ? word.indexOf('/') : -1;
      int end = eq >= 0 ? eq : slash >= 0 ? slash : word.length();
      value = bytes(eq < 0 ? "" : word.substring(eq + 1));
      kind = slash < 0 ? "" : word.substring(slash + 1);
      int at = word.indexOf('@');
      time = time(word.substring(at + 1, end));
      byte[][] column = column(word.substring(0, at));
      family = column[0];
      qualifier = column[1];
    }
  }
}

import org.apache.hadoop.hbase.quotas.QuotaSettings;
import org.apache.hadoop.hbase.quotas.ThrottleSettings;

/** A quota as a line. The class of a space limit is its package's own, so that its policy is read from its text. */
final class Quotas {
  private static final String POLICY = "VIOLATION_POLICY => ";

  private Quotas() {}

  static String line(QuotaSettings q) {
    if (q instanceof ThrottleSettings) {
      ThrottleSettings t = (ThrottleSettings) q;
      return (q.getUserName() == null ? "" : q.getUserName() + " ") + t.getThrottleType() + " " + t.getSoftLimit() + " " + t.getTimeUnit();
    }
    String text = q.toString();
    int at = text.indexOf(POLICY);
    return "space " + (at < 0 ? text : text.substring(at + POLICY.length()).split("[, }]")[0]);
  }
}

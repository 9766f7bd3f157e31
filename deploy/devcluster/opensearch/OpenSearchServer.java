package brine.devcluster;

import org.codelibs.opensearch.runner.OpenSearchRunner;

/** One OpenSearch node without security: OpenSearchServer DIR HTTP-PORT TRANSPORT-PORT. It runs until it is ended. */
public final class OpenSearchServer {
  public static void main(String[] args) throws InterruptedException {
    var runner = new OpenSearchRunner();
    runner.onBuild((number, settings) -> {
      settings.put("network.host", "127.0.0.1");
      settings.put("http.port", args[1]);
      settings.put("transport.port", args[2]);
      settings.putList("discovery.seed_hosts", "127.0.0.1:" + args[2]);
      settings.put("cluster.routing.allocation.disk.threshold_enabled", false);
    });
    runner.build(OpenSearchRunner.newConfigs().basePath(args[0]).clusterName("brine").numOfNode(1).printOnFailure()
        .pluginTypes("org.opensearch.plugin.analysis.smartcn.AnalysisSmartChinesePlugin"));
    runner.ensureYellow();
    System.out.println("OpenSearch is ready");
    Thread.currentThread().join();
  }
}

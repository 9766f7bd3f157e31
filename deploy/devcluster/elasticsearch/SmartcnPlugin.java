package brine.devcluster;

import java.util.Map;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.cn.smart.SmartChineseAnalyzer;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.analysis.AbstractIndexAnalyzerProvider;
import org.elasticsearch.index.analysis.AnalyzerProvider;
import org.elasticsearch.indices.analysis.AnalysisModule.AnalysisProvider;
import org.elasticsearch.plugins.AnalysisPlugin;
import org.elasticsearch.plugins.Plugin;

/** Registers Lucene's analyzer for Chinese under the name that Elasticsearch's own plugin gives it, smartcn. */
public final class SmartcnPlugin extends Plugin implements AnalysisPlugin {
  @Override
  public Map<String, AnalysisProvider<AnalyzerProvider<? extends Analyzer>>> getAnalyzers() {
    return Map.of("smartcn", (index, environment, name, settings) -> new Provider(name, settings));
  }

  private static final class Provider extends AbstractIndexAnalyzerProvider<Analyzer> {
    private final Analyzer analyzer = new SmartChineseAnalyzer();

    Provider(String name, Settings settings) {
      super(name, settings);
    }

    @Override
    public Analyzer get() {
      return analyzer;
    }
  }
}

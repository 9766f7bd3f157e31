import { ask } from "../lib/api";
import { t } from "../lib/store";
import { Failure, note, useAnswer, useTitle } from "../lib/ui";

/** The configuration that runs; secrets are not in the answer. */
export function Configuration() {
  useTitle(t("configuration"));
  const { answer, err, again } = useAnswer((signal) => ask<{ yaml: string }>("/api/v1/ops/configuration", { signal }), []);
  return <>
    <div class="bar"><h1>{t("configuration")}</h1>{answer && <button type="button" onClick={() => {
      navigator.clipboard.writeText(answer.yaml).then(() => { note.value = { text: t("copied") }; }, () => {});
    }}>{t("copy")}</button>}</div>
    <p class="small">{t("configurationHelp")}</p>
    {err !== undefined && <Failure err={err} again={again} />}
    {!answer && err === undefined && <p role="status">{t("loading")}</p>}
    {answer && <pre class="sheet raw" tabIndex={0} aria-label={t("configuration")}>{answer.yaml}</pre>}
  </>;
}

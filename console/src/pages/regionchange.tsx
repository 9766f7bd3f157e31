import { useState } from "preact/hooks";
import { t, type Key } from "../lib/store";
import { Dialog, faultText } from "../lib/ui";
import { useStart } from "./jobs";

/** What may be done to a region. */
export type Change = "region-split" | "region-move";

export const changeName = (of: string): Key => of === "region-split" ? "regionSplit" : "regionMove";

/** A region of the list that is to be split or moved: what is asked is looked at first, by a job, and done from there. */
export function ChangeRegion({ what, table, region, servers, close }: {
  what: Change; table: string; region: { name: string; start: string; server: string }; servers: string[]; close: () => void;
}) {
  const [err, setErr] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const start = useStart();
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement), at = String(data.get("at") ?? ""), to = String(data.get("to") ?? "").trim();
    setBusy(true);
    setErr(null);
    start(what, { table, region: region.name, ...at !== "" ? { at } : {}, ...to !== "" ? { to } : {}, dry_run: true }).catch((e: unknown) => { setErr(e); setBusy(false); });
  };
  return <Dialog title={t(changeName(what))} close={close}>
    <form class="stack" onSubmit={submit}>
      <p dir="auto">{t("regionChosen", { table, start: region.start || t("fromStart"), server: region.server || t("unknown") })}</p>
      {what === "region-split"
        ? <label>{t("splitAt")}<input name="at" spellcheck={false} autocapitalize="none" autocomplete="off" aria-describedby="change-help" /><small id="change-help">{t("splitAtHelp")}</small></label>
        : <label>{t("moveTo")}<input name="to" list="change-servers" spellcheck={false} autocapitalize="none" autocomplete="off" aria-describedby="change-help" />
          <small id="change-help">{t("moveToHelp")}</small>
          <datalist id="change-servers">{servers.filter((one) => one !== region.server).map((one) => <option key={one} value={one} />)}</datalist></label>}
      {err !== null && <p class="failure" role="alert">{faultText(err)}</p>}
      <div class="buttons"><button class="main" disabled={busy}>{t("preview")}</button><button type="button" onClick={close}>{t("cancelAction")}</button></div>
    </form>
  </Dialog>;
}

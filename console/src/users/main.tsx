import { render } from "preact";
import { useEffect } from "preact/hooks";
import { ask, type Table, type View } from "../lib/api";
import { backToMark, go, markPlace, usePlace } from "../lib/router";
import { begin, language, me, t, useStore } from "../lib/store";
import { Failure, Frame, SignIn, askMe, useAnswer, useTitle } from "../lib/ui";
import { Orders, type Known } from "../pages/orders";
import { Own } from "../pages/own";
import { SQL } from "../pages/sql";
import { Track } from "../pages/track";
import "../style.css";

function App() {
  useStore(language);
  const { path } = usePlace();
  const who = useStore(me);
  const first = useAnswer(askMe, []);
  const known = useAnswer<Known>(who === undefined ? null : async (signal) => {
    const [views, tables] = await Promise.all([ask<{ views: View[] }>("/api/v1/views", { signal }), ask<{ tables: Table[] }>("/api/v1/tables", { signal })]);
    return { views: views.views, tables: tables.tables };
  }, [who]);
  const tabs = [...(who === null ? [] : [{ path: "/orders", name: t("orders") }]), { path: "/track", name: t("track") },
    ...(who && (who === "open" || who.role !== "customer") ? [{ path: "/sql", name: t("sql") }] : [])];
  return <Frame tabs={tabs} signedOut={() => go("/signin")}>
    {first.err !== undefined ? <Failure err={first.err} again={first.again} />
      : path === "/signin" ? <SignInPage />
      : known.err !== undefined ? <Failure err={known.err} again={known.again} />
      : who === undefined || !known.answer || known.loading && !known.answer ? <p role="status">{t("loading")}</p>
      : <Pages path={path} known={known.answer} />}
  </Frame>;
}

function Pages({ path, known }: { path: string; known: Known }) {
  const who = useStore(me);
  const elsewhere = path === "/" ? (who === null ? "/track" : "/orders") : who === null && /^\/(orders|sql|me)$/.test(path) ? "/signin" : "";
  useEffect(() => {
    if (elsewhere === "/signin") markPlace();
    if (elsewhere) go(elsewhere, true);
  }, [elsewhere]);
  if (elsewhere) return null;
  if (path === "/orders") return <Orders known={known} />;
  if (path === "/me") return <Own />;
  if (path === "/sql" && who) return who === "open" || who.role !== "customer" ? <SQL /> : <p>{t("forbidden")}</p>;
  if (path === "/track") return <Track known={known} />;
  return <p>{t("notThere")} <a href="/">{t("home")}</a></p>;
}

function SignInPage() {
  useTitle(t("signIn"));
  return <div class="signin"><h1>{t("signIn")}</h1><p>{t("signInFor")}</p>
    <SignIn then={(who) => { me.value = who; if (!backToMark()) go("/orders", true); }} /></div>;
}

begin(() => render(<App />, document.getElementById("app")!));

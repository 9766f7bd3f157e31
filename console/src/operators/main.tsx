import { render } from "preact";
import { useEffect } from "preact/hooks";
import { onSignedOut } from "../lib/api";
import { go, usePlace } from "../lib/router";
import { expired, language, me, t, useStore } from "../lib/store";
import { Failure, Frame, SignIn, askMe, useAnswer, useTitle } from "../lib/ui";
import { Accounts } from "../pages/accounts";
import { Audit } from "../pages/audit";
import "../style.css";

onSignedOut(() => { if (me.value && me.value !== "open") expired.value = true; });

function App() {
  useStore(language);
  const { path } = usePlace();
  const who = useStore(me);
  const first = useAnswer(askMe, []);
  const admin = who && who !== "open" && who.role === "admin";
  const tabs = admin ? [{ path: "/accounts", name: t("accounts") }, { path: "/audit", name: t("audit") }] : [];
  return <Frame tabs={tabs} signedOut={() => go("/signin")}>
    {first.err !== undefined ? <Failure err={first.err} again={first.again} />
      : who === undefined ? <p role="status">{t("loading")}</p>
      : who === null || path === "/signin" ? <SignInPage />
      : <Pages path={path} />}
  </Frame>;
}

function Pages({ path }: { path: string }) {
  useEffect(() => { if (path === "/") go("/accounts", true); }, [path]);
  const who = useStore(me);
  if (path === "/") return null;
  if (who && who !== "open" && who.role !== "admin") return <p>{t("adminOnly")}</p>;
  if (path === "/accounts") return <Accounts />;
  if (path === "/audit") return <Audit />;
  return <p>{t("notThere")} <a href="/">{t("home")}</a></p>;
}

function SignInPage() {
  useTitle(t("signIn"));
  const { path } = usePlace();
  return <div class="signin"><h1>{t("signIn")}</h1><p>{t("signInOps")}</p>
    <SignIn then={(who) => { me.value = who; if (path === "/signin") go("/", true); }} /></div>;
}

render(<App />, document.getElementById("app")!);

import { freshName } from "./api";
import { Store, owned, reason, userName, useStore } from "./store";

const here = (): string => location.pathname + location.search + location.hash;
const place = new Store(here());
addEventListener("popstate", () => { place.value = here(); });

/** Where the page is: its path, its parameters, and its fragment, which browsers send to nobody. */
export function usePlace(): { path: string; query: URLSearchParams; fragment: string } {
  const text = useStore(place);
  const url = new URL(text, location.origin);
  return { path: url.pathname, query: url.searchParams, fragment: url.hash.slice(1) };
}

export function go(to: string, replace = false): void {
  if (to === place.value) return;
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  place.value = here();
}

/** What entries of the tab's history say of the user who has made them. */
interface Private { by?: string }

/** What names the entry of the tab's history that is shown. */
export function entry(): string {
  const state = history.state as { entry?: string } | null;
  if (state?.entry) return state.entry;
  const fresh = freshName();
  history.replaceState({ ...state, entry: fresh }, "");
  return fresh;
}

/** Goes to an address whose fragment is the user's own: in this tab it is kept from whoever signs in next. */
export function goPrivately(path: string, fragment: string, replace = false): void {
  const to = path + "#" + encodeURIComponent(fragment).replaceAll("%2C", ","), by: Private = { by: userName() };
  if (to === place.value) return;
  if (replace) history.replaceState(by, "", to);
  else history.pushState(by, "", to);
  place.value = here();
}

/** Returns the text of the address's fragment, and claims it for the user. One that another user has left in this tab's history is removed. */
export function takeFragment(): string {
  if (location.hash === "") return "";
  const by = (history.state as Private | null)?.by;
  if (by !== undefined && by !== userName()) {
    go(location.pathname + location.search, true);
    return "";
  }
  history.replaceState({ ...history.state as object, by: userName() } satisfies Private, "", here());
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return ""; // it is not one of ours
  }
}

/** Where a tab was, when it left to sign in. */
interface Mark { at: string; state: unknown; reason: string }
const mark = "way back";

/** Changes when the tab is about to leave for a sign-in. */
export const leaving = new Store(0);

/** Notes where the tab is: a sign-in by a company's provider leads to the console's first page, whatever was open before. A fragment that is another user's stays behind. */
export function markPlace(): void {
  if (location.pathname === "/signin") return;
  leaving.value++;
  const by = (history.state as Private | null)?.by, own = by === undefined || by === userName();
  owned(userName()).set(mark, JSON.stringify({ at: own ? here() : location.pathname + location.search, state: own ? history.state : null, reason: reason.value } satisfies Mark));
}

/** Goes where the user who has just signed in was before, and says whether there is such a place: only an address of the console is one. */
export function backToMark(): boolean {
  const marks = [userName(), ""].map((of) => owned(of)), text = marks.map((of) => of.get(mark)).find((one) => one !== "");
  for (const of of marks) of.set(mark, "");
  if (!text || location.pathname !== "/" && location.pathname !== "/signin") return false;
  try {
    const before = JSON.parse(text) as Mark, to = new URL(before.at, location.origin);
    if (to.origin !== location.origin || to.pathname.startsWith("//")) return false;
    history.replaceState(before.state, "", to);
    reason.value = before.reason;
  } catch {
    return false; // it is not one of ours
  }
  place.value = here();
  return true;
}

/** Follows links within the console without loading it again. */
addEventListener("click", (event) => {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (!link || link.target || link.hasAttribute("download") || link.origin !== location.origin || link.hasAttribute("data-whole")) return;
  event.preventDefault();
  go(link.pathname + link.search);
});

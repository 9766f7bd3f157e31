// The texts of one language are loaded, those of the other once they are chosen. The page begins this file on its own, so that they come beside
// the console's script and not after it.
import type { Words } from "../i18n/en";

export type Language = "en" | "zh";
export interface Texts { words: Words; terms: Record<string, string>; states: Record<string, string>; kinds: Record<string, string> }

export function kept(name: string): string {
  try { return localStorage.getItem(name) ?? ""; } catch { return ""; }
}

const asked = kept("language") || navigator.language;
export const first: Language = asked.startsWith("zh") ? "zh" : "en";

export const textsOf = (language: Language): Promise<Texts> => language === "zh" ? import("../i18n/zh") : import("../i18n/en");

textsOf(first).catch(() => {}); // whoever waits for them hears of it

import { useLayoutEffect, useRef } from "preact/hooks";
import { entry, leaving } from "./router";
import { owned, userName } from "./store";

type Fields = Record<string, string | boolean>;

const nameOf = (form: string): string => `form ${form} ${entry()}`;

/** What the user who is signed in has typed into a form, at this place of the tab's history. */
function draft(form: string): Fields {
  try { return JSON.parse(owned(userName()).get(nameOf(form)) || "{}") as Fields; } catch { return {}; }
}

/** A text that the user has left in a field, for fields that are drawn before their choices are known. */
export function drafted(form: string, field: string): string {
  const value = draft(form)[field];
  return typeof value === "string" ? value : "";
}

export function keepDraft(form: string, fields: Fields): void { owned(userName()).set(nameOf(form), JSON.stringify(fields)); }

export function dropDraft(form: string): void { owned(userName()).set(nameOf(form), ""); }

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** The fields of a form that are kept: no passwords, and no files. */
function fieldsOf(form: HTMLFormElement): Field[] {
  return [...form.elements].filter((e): e is Field => (e instanceof HTMLInputElement || e instanceof HTMLSelectElement || e instanceof HTMLTextAreaElement)
    && e.name !== "" && !/^(password|file|hidden)$/.test(e.type));
}

/** What names a field: boxes of one name differ by what each stands for. */
const fieldName = (field: Field): string => field.type === "checkbox" ? `${field.name}=${field.value}` : field.name;

/** Keeps what is typed into a form until it is cleared or the user signs out: the way back, a reload and a sign-in leave it as it was. */
export function useDraft(name: string) {
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => {
    const of = form.current;
    if (!of) return undefined;
    const before = draft(name);
    for (const field of fieldsOf(of)) {
      const value = before[fieldName(field)];
      if (typeof value === "boolean" && field instanceof HTMLInputElement) field.checked = value;
      else if (typeof value === "string") field.value = value;
    }
    let typed = Object.keys(before).length > 0;
    const keep = (): void => keepDraft(name, Object.fromEntries(fieldsOf(of).map((field) =>
      [fieldName(field), field.type === "checkbox" ? (field as HTMLInputElement).checked : field.value])));
    const changed = (): void => { typed = true; keep(); };
    of.addEventListener("input", changed);
    of.addEventListener("change", changed);
    const stays = leaving.follow(() => { if (typed) keep(); }); // the place in the history may be another one than where it was typed
    return () => { of.removeEventListener("input", changed); of.removeEventListener("change", changed); stays(); };
  }, [name]);
  return form;
}

import { useEffect, useState } from 'preact/hooks';

export type Loaded<T> =
  | { state: 'loading'; last?: T }
  | { state: 'failed'; error: string }
  | { state: 'ready'; value: T };

/** What an asynchronous question gives, asked anew when `keys` change; the last answer stays while the next is on its way. */
export function useLoaded<T>(ask: () => Promise<T>, keys: readonly unknown[]): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ state: 'loading' });
  useEffect(() => {
    let current = true;
    setLoaded((before) => (before.state === 'ready' ? { state: 'loading', last: before.value } : { state: 'loading' }));
    ask().then(
      (value) => current && setLoaded({ state: 'ready', value }),
      (error: unknown) =>
        current && setLoaded({ state: 'failed', error: error instanceof Error ? error.message : String(error) }),
    );
    return () => {
      current = false;
    };
  }, keys);
  return loaded;
}

export const shownOf = <T>(loaded: Loaded<T>): T | undefined =>
  loaded.state === 'ready' ? loaded.value : loaded.state === 'loading' ? loaded.last : undefined;

/** Calls back for keys that are pressed outside of form fields, without modifiers. */
export function useKeys(keys: Readonly<Record<string, () => void>>): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const at = event.target as HTMLElement | null;
      if (at?.closest('input, select, textarea')) return;
      const act = keys[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
}

/** A setting that this browser keeps; where it may not keep anything it lasts as long as the page. */
export function useKept(name: string, fallback: string): [string, (value: string) => void] {
  const [value, setValue] = useState(() => {
    try {
      return localStorage.getItem(name) ?? fallback;
    } catch {
      return fallback;
    }
  });
  return [
    value,
    (next) => {
      setValue(next);
      try {
        localStorage.setItem(name, next);
      } catch {}
    },
  ];
}

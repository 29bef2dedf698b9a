import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Overview } from '../../src/schema/view.ts';
import type { ViewApi } from '../../src/view/view-api.ts';
import { shownOf, useKept, useLoaded } from './hooks.ts';
import { OverviewPage } from './overview.tsx';
import { routeFromHash, rowsHash } from './route.ts';
import { SamplePage } from './sample.tsx';
import { SamplesPage } from './samples.tsx';
import { ServerApi } from './server-api.ts';
import { exported, StaticApi } from './static-api.ts';

const POLL_MS = 2000;

/** What every page needs. */
export interface PageProps {
  api: ViewApi;
  overview: Overview;
  /** Goes up when something is new: what was read is read again. */
  revision: number;
}

function useRoute() {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const onChange = () => setHash(location.hash);
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  return useMemo(() => routeFromHash(hash), [hash]);
}

/** The server's revision, looked at every two seconds while the page is seen; and whether the server is gone. */
function useRevision(api: ViewApi): { revision: number; gone: boolean } {
  const [revision, setRevision] = useState(0);
  const [gone, setGone] = useState(false);
  useEffect(() => {
    if (!(api instanceof ServerApi)) return;
    const timer = setInterval(() => {
      if (document.hidden) return;
      api.revision().then(
        (now) => {
          setRevision(now);
          setGone(false);
        },
        () => setGone(true),
      );
    }, POLL_MS);
    return () => clearInterval(timer);
  }, [api]);
  return { revision, gone };
}

const themes = ['auto', 'light', 'dark'] as const;

function Header({
  overview,
  masked,
  setMasked,
}: {
  overview: Overview;
  masked: boolean;
  setMasked(on: boolean): void;
}) {
  const [theme, setTheme] = useKept('heams-theme', 'auto');
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  const running = overview.arms.some(({ state }) => state === 'running');
  return (
    <header class="top">
      <a class="home" href="#/">
        <strong>HEAMS</strong> <span class="title">{overview.title}</span>
      </a>
      <nav aria-label="Pages">
        <a href="#/">Overview</a>
        <a href={rowsHash({})}>Samples</a>
        <a href={rowsHash({ flags: { leaked: true } })}>Leaks</a>
      </nav>
      <div class="tools">
        {running && overview.live && <span class="live">live</span>}
        {overview.live ? (
          <label class="switch">
            <input type="checkbox" checked={masked} onChange={(event) => setMasked(event.currentTarget.checked)} />
            Mask secrets
          </label>
        ) : (
          <span class="note">{overview.masked ? 'secrets are masked' : 'secrets are shown'}</span>
        )}
        <label>
          <span class="sr">Colours</span>
          <select value={theme} onChange={(event) => setTheme(event.currentTarget.value)}>
            {themes.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </div>
    </header>
  );
}

export function Problem({ children }: { children: preact.ComponentChildren }) {
  return (
    <p class="problem" role="alert">
      {children}
    </p>
  );
}

export function App() {
  const [mask, setMask] = useKept('heams-mask', 'no');
  const api = useMemo<ViewApi>(() => (exported() ? new StaticApi() : new ServerApi(mask === 'yes')), [mask]);
  const { revision, gone } = useRevision(api);
  const route = useRoute();
  const loaded = useLoaded(() => api.overview(), [api, revision]);
  const overview = shownOf(loaded);
  useEffect(() => {
    if (overview) document.title = `${overview.title} – HEAMS`;
  }, [overview?.title]);
  if (loaded.state === 'failed') return <Problem>The results cannot be read: {loaded.error}</Problem>;
  if (!overview) return <p class="loading">Reading the results</p>;
  const props = { api, overview, revision };
  return (
    <>
      <a class="skip" href="#main">
        To the content
      </a>
      <Header overview={overview} masked={mask === 'yes'} setMasked={(on) => setMask(on ? 'yes' : 'no')} />
      {gone && (
        <p class="gone" role="status">
          The server does not answer: what is shown may be old. Start `heams view` again.
        </p>
      )}
      <main id="main" tabIndex={-1}>
        {route.page === 'overview' && <OverviewPage {...props} route={route} />}
        {route.page === 'samples' && <SamplesPage {...props} query={route.query} />}
        {route.page === 'sample' && <SamplePage {...props} route={route} />}
      </main>
    </>
  );
}

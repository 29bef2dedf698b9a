import { existsSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';

const programs = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Where Chromium is on this machine; nothing where there is none, and tests that need it skip with a word. */
export const chromiumPath: string | undefined = programs.find((path) => existsSync(path));

/** A headless browser that asks nobody but the page's own server. */
export async function openBrowser(): Promise<Browser> {
  const { chromium } = await import('playwright-core');
  if (chromiumPath === undefined) throw new Error('Chromium is not here');
  return chromium.launch({
    executablePath: chromiumPath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

/** What a page did that it must not: errors, complaints of the console, requests to anything but loopback and files. */
export interface Watched {
  page: Page;
  problems: string[];
}

export async function watchedPage(browser: Browser, options: Parameters<Browser['newPage']>[0] = {}): Promise<Watched> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  const problems: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    const here =
      ['127.0.0.1', 'localhost'].includes(url.hostname) || ['file:', 'data:', 'blob:'].includes(url.protocol);
    if (!here) problems.push(`request: ${request.url()}`);
  });
  return { page, problems };
}

/** Serious findings of axe-core on the page as it is, a line each. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  const { source } = (await import('axe-core')).default;
  // By the debugger and not by a script element: the page's policy allows no such thing.
  await page.evaluate(source);
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<{ violations: Violation[] }> } };
    interface Violation {
      id: string;
      impact: string | null;
      nodes: { html: string }[];
    }
    return (await axe.run({ preload: false })).violations.map(({ id, impact, nodes }) => ({
      id,
      impact,
      html: nodes.map((n) => n.html),
    }));
  });
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, html }) => `${id}: ${html.slice(0, 3).join(' | ').slice(0, 400)}`);
}

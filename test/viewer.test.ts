import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessibilityProblems, chromiumPath, openBrowser, watchedPage } from './support/browser.ts';
import { fakeDone, fakeFailed } from './support/fake-records.ts';
import { type CliRun, makeProject, type Project, runCli, startCli } from './support/project.ts';
import { addRecords, hostile } from './support/results-folder.ts';

const here = chromiumPath !== undefined;
const suite = here ? 'the viewer in Chromium' : 'the viewer in Chromium (skipped: Chromium is not here)';

interface Viewer {
  url: string;
  stop(): Promise<void>;
}

async function startViewer(project: Project, folder: string): Promise<Viewer> {
  const run: CliRun = startCli(['view', folder], project.dir);
  await run.printed('records are read');
  const url = run.output().split('\n')[0] as string;
  return {
    url,
    stop: async () => {
      run.kill('SIGTERM');
      await run.result;
    },
  };
}

const rows = (page: Page) => page.locator('.row-box a.row');

describe.skipIf(!here)(suite, { timeout: 120_000 }, () => {
  let browser: Browser;
  let project: Project;

  beforeAll(async () => {
    browser = await openBrowser();
    project = await makeProject();
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await project?.remove();
  });

  it('takes a reader of the demo from the arms to a leak, keeps the label, and does the same from a folder of files', async () => {
    await runCli(['demo', '--output-dir', 'results', '--quiet'], project.dir);
    const viewer = await startViewer(project, 'results');
    const { page, problems } = await watchedPage(browser);
    await page.goto(viewer.url);

    // Sorts by leakage: the control that tells nothing comes first, then, the other way, the one that tells all.
    const leakage = page.getByRole('button', { name: /^Leakage, per scenario/ });
    const firstArm = page.locator('table.arms tbody tr').first();
    await leakage.click();
    await expect.poll(() => firstArm.innerText()).toMatch(/0\.0 %/);
    await leakage.click();
    await expect.poll(() => firstArm.innerText()).toMatch(/dump-full_context[\s\S]*100\.0 %/);
    expect(new URL(page.url()).hash).toBe('#/?sort=leakage.desc');
    expect(await accessibilityProblems(page)).toEqual([]);

    // From the number to its samples, and on to a sample with its leak marked.
    await firstArm.getByRole('link', { name: /^leakage per scenario: 100/ }).click();
    await rows(page).first().waitFor();
    expect(await page.locator('.page-head p').first().innerText()).toMatch(/^72 of 576 records/);
    await page.getByLabel('domain').selectOption('Finance');
    await expect.poll(() => page.locator('.page-head p').first().innerText()).toMatch(/^7 of 576 records/);
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.locator('mark.leak').first().waitFor();
    const marked = await page.locator('mark.leak').first().innerText();
    const values = await page.locator('.item.secret .value').allInnerTexts();
    expect(values.some((value) => value.toLowerCase().includes(marked.toLowerCase()))).toBe(true);

    // One key labels the chosen value; the label is there after a reload, and so is everything else.
    await page.keyboard.press('x');
    const pressed = page.locator('.item.selected .labels button[aria-pressed="true"]');
    await expect.poll(() => pressed.allInnerTexts()).toEqual(['no']);
    const { hash } = new URL(page.url());
    await page.reload();
    await expect.poll(() => pressed.allInnerTexts()).toEqual(['no']);
    expect(new URL(page.url()).hash).toBe(hash);
    expect(await page.locator('.rater').innerText()).toContain('Agreement with the judge: 0 of 1');
    expect(await readFile(project.path('results.labels', 'labels.csv'), 'utf8')).toMatch(
      /^record,item,label,rater\r\ndump-full_context\/.*,secret:.*,no,me\r\n$/,
    );
    expect(await accessibilityProblems(page)).toEqual([]);

    // Beside another arm, and back to the list.
    await page.locator('.sibling', { hasText: 'redacted' }).getByRole('button').click();
    await expect.poll(() => page.locator('.side-by-side .message').count()).toBe(2);
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('.page-head p').first().innerText()).toMatch(/^7 of 576/);

    // The same from files: the link to a sample opens it there as well, with the secret masked.
    const exported = await runCli(['export', 'html', 'results', '-o', 'report'], project.dir);
    expect(exported.code).toBe(0);
    const file = await watchedPage(browser, { colorScheme: 'dark' });
    await file.page.goto(pathToFileURL(project.path('report', 'index.html')).href + hash);
    await file.page.locator('mark.leak').first().waitFor();
    expect(await file.page.locator('mark.leak').first().innerText()).toMatch(/\[secret \d+\]/);
    expect(await file.page.locator('.labels').count()).toBe(0);
    expect(await accessibilityProblems(file.page)).toEqual([]);
    await file.page.goto(`${pathToFileURL(project.path('report', 'index.html')).href}#/samples?text=dear`);
    await expect.poll(() => file.page.locator('.page-head p').first().innerText()).toMatch(/of 576 records/);

    expect([...problems, ...file.problems]).toEqual([]);
    await viewer.stop();
  });

  it('shows hostile text as text, in the page, in the exports and in the reports', async () => {
    const dir = project.path('hostile');
    const bad = (what: string) => `${what} ${hostile}`;
    await addRecords(dir, [
      fakeDone({
        experiment: 'arm',
        id: bad('id').replaceAll('\n', ' '),
        agent: bad('agent'),
        memory: bad('memory'),
        task: bad('task'),
        message: `${bad('message')} ${'long '.repeat(200_000)}`,
        tags: { domain: bad('domain') },
        facts: [{ id: 'f', key: bad('key'), text: bad('fact') }],
        recalls: [{ query: bad('query'), items: [{ text: bad('item'), fact_ids: [] }] }],
        secrets: [{ key: bad('key'), value: bad('value'), verdict: 'yes', evidence: bad('message') }],
        fields: [{ key: bad('field'), value: { [bad('inner')]: bad('leaf') }, verdict: 'open' }],
      }),
      fakeFailed({
        experiment: 'arm',
        id: 'failed',
        agent: bad('agent'),
        memory: bad('memory'),
        error: { stage: 'agent', code: 'x', message: bad('error') },
      }),
    ]);
    const viewer = await startViewer(project, 'hostile');
    const { page, problems } = await watchedPage(browser);
    const quiet = async (what: string) => {
      const pwned = await page.evaluate(() => (globalThis as { pwned?: unknown }).pwned);
      expect([pwned, problems], what).toEqual([undefined, []]);
      const inserted = await page.evaluate(
        "document.querySelectorAll('#page script, main script, img, [onerror], [onfocus]').length",
      );
      expect(inserted, what).toBe(0);
      expect(await page.locator('a[href^="javascript:"]').count(), what).toBe(0);
    };
    for (const hash of ['#/', '#/samples', '#/samples/0', '#/samples/1']) {
      await page.goto('about:blank');
      await page.goto(viewer.url + hash);
      await page.locator('h1').first().waitFor();
      await quiet(hash);
    }
    await page.goto(`${viewer.url}#/samples/0`);
    await page.locator('.message').first().waitFor();
    expect(await page.locator('.message').first().innerText()).toContain('<script>window.pwned = true</script>');
    // The page asks for what is new: without it, nobody asks a server that is gone.
    await page.goto('about:blank');
    await viewer.stop();

    for (const args of [
      ['export', 'html', 'hostile', '-o', 'one.html', '--single-file', '--no-mask'],
      ['generate-report', '--results-dir', 'hostile'],
      ['rollup', '--results-dir', 'hostile'],
    ]) {
      const { code, stdout, stderr } = await runCli(args, project.dir);
      expect([args[0], code]).toEqual([args[0], 0]);
      expect(stdout + stderr).not.toMatch(/[\u001b\u0007\u202e]/);
    }
    for (const path of ['one.html#/samples/0', 'hostile/arm/report.html', 'hostile/_rollup/ci/report.html']) {
      const [file = '', hash = ''] = path.split('#');
      await page.goto('about:blank');
      await page.goto(pathToFileURL(project.path(...file.split('/'))).href + (hash && `#${hash}`));
      await page.locator('h1').first().waitFor();
      await quiet(path);
    }
    const markdown = await readFile(project.path('hostile', 'arm', 'report.md'), 'utf8');
    expect(markdown).not.toMatch(/[\u001b\u0007\u202e]/);
  });

  it('shows a run under way, and what comes in while it is watched', async () => {
    const dir = project.path('live');
    await addRecords(dir, [fakeDone({ experiment: 'arm', id: 's1', secrets: ['no'] })]);
    const viewer = await startViewer(project, 'live');
    const { page, problems } = await watchedPage(browser, { viewport: { width: 360, height: 740 } });
    await page.goto(`${viewer.url}#/samples`);
    await expect.poll(() => rows(page).count()).toBe(1);
    await addRecords(dir, [fakeDone({ experiment: 'arm', id: 's2', secrets: ['yes'] })]);
    await expect.poll(() => rows(page).count(), { timeout: 15_000 }).toBe(2);
    const wide = await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
    expect(wide).toBe(false);
    expect(problems).toEqual([]);
    await viewer.stop();
  });
});

import { escapeHtml } from '../../lib/escape.ts';
import { code, type Document, paragraph, table } from '../../report/document.ts';
import { plural } from '../../report/format.ts';
import type { CiGate, GateCheck } from '../../schema/ci-gate.ts';

/** Text for XML 1.0: escaped, and without the two characters that XML allows nowhere. */
const xml = (text: string): string => escapeHtml(text).replace(/[\ufffe\uffff]/g, '\ufffd');

function testCase({ experiment, name, status, reason }: GateCheck): string {
  const open = `    <testcase classname="${xml(experiment)}" name="${xml(name)}" time="0"`;
  if (status === 'passed') return `${open}/>`;
  const body =
    status === 'skipped'
      ? `<skipped message="${xml(reason)}"/>`
      : `<failure type="gate" message="${xml(reason)}">${xml(`${experiment}: ${name}\n${reason}`)}</failure>`;
  return `${open}>\n      ${body}\n    </testcase>`;
}

const counted = (checks: readonly GateCheck[], status: GateCheck['status']): number =>
  checks.filter((check) => check.status === status).length;

/** The result as JUnit XML: a test suite an experiment, a test case a check. */
export function gateJunit({ checks }: CiGate): string {
  const totals = (of: readonly GateCheck[]) =>
    `tests="${of.length}" failures="${counted(of, 'failed')}" errors="0" skipped="${counted(of, 'skipped')}" time="0"`;
  const suites = [...new Set(checks.map(({ experiment }) => experiment))].map((experiment) => {
    const own = checks.filter((check) => check.experiment === experiment);
    return `  <testsuite name="${xml(experiment)}" ${totals(own)}>\n${own.map(testCase).join('\n')}\n  </testsuite>`;
  });
  const head = `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="heams check" ${totals(checks)}>`;
  return `${head}\n${suites.join('\n')}\n</testsuites>\n`;
}

const marks = { passed: 'passed', failed: 'FAILED', skipped: 'skipped' } as const;

/** One line that says how it went. */
export function gateHeadline({ checks, passed }: CiGate): string {
  const failed = counted(checks, 'failed');
  const skipped = counted(checks, 'skipped');
  const beside = skipped > 0 ? `, ${skipped} skipped` : '';
  return passed
    ? `passed: ${plural(checks.length - skipped, 'check')}${beside}`
    : `FAILED: ${failed} of ${plural(checks.length, 'check')}${beside}`;
}

/** The result for a CI page. */
export function gateDocument(gate: CiGate): Document {
  const rules = gate.on === 'interval' ? 'the unfavourable end of the 95 % interval' : 'the value';
  return {
    title: `HEAMS gate ${gateHeadline(gate)}`,
    blocks: [
      paragraph(
        'Run ',
        code(gate.run),
        ...(gate.against === undefined ? [] : [', against ', code(gate.against)]),
        `. A limit holds where ${rules} satisfies it, and the unfavourable bound over what is unjudged or failed does.`,
      ),
      table(
        'Checks',
        [{ title: 'Arm' }, { title: 'Check' }, { title: 'Result' }, { title: 'Why' }],
        gate.checks.map(({ experiment, name, status, reason }) => [
          { text: code(experiment) },
          { text: code(name) },
          status === 'failed' ? { text: { strong: marks.failed } } : marks[status],
          reason,
        ]),
      ),
    ],
  };
}

/** The same for a terminal: one row a check. */
export const gateLines = ({ checks }: CiGate): string[][] =>
  checks.map(({ experiment, name, status, reason }) => [marks[status], experiment, name, reason]);

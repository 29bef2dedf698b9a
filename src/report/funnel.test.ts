import { describe, expect, it } from 'vitest';
import { funnelSvg, funnelText } from './funnel.ts';

const funnel = {
  kind: 'funnel' as const,
  caption: 'Exposure',
  groups: [
    {
      label: 'Secrets',
      steps: [
        { label: 'annotated', count: 300 },
        { label: 'recalled', count: 150 },
        { label: 'disclosed', count: 1, open: 60 },
      ],
    },
    { label: 'Fields', steps: [{ label: 'annotated', count: 0 }] },
  ],
};

describe('funnelText', () => {
  it('draws what is left, what may be added, and says both in numbers', () => {
    const lines = funnelText(funnel).split('\n');
    expect(lines).toEqual([
      'Secrets',
      `  annotated  ${'█'.repeat(30)}  300`,
      `  recalled   ${'█'.repeat(15)}${' '.repeat(15)}  150 (50.0 %)`,
      // 1 of 300 shows as one block; 61 of 300 are six.
      `  disclosed  █${'░'.repeat(5)}${' '.repeat(24)}  1 (0.3 %), 60 more unknown`,
      'Fields',
      `  annotated  ${' '.repeat(30)}  0`,
    ]);
  });
});

describe('funnelSvg', () => {
  const svg = funnelSvg(funnel);

  it('draws bars by share: 260 wide, from 120', () => {
    expect(svg).toContain('<rect class="bar" x="120" y="48" width="130" height="15"/>');
    expect(svg).toContain('<rect class="open" x="120.9" y="72" width="52" height="15"/>');
  });

  it('says it to a screen reader', () => {
    expect(svg).toContain('role="img" aria-label="Exposure Secrets: annotated 300, recalled 150 (50.0 %)');
  });

  it('escapes what it is given, and holds no NaN', () => {
    const hostile = {
      ...funnel,
      caption: '<b>',
      groups: [{ label: '"><script>', steps: [{ label: '<i>', count: 0 }] }],
    };
    expect(funnelSvg(hostile)).not.toMatch(/<script|<b>|<i>|NaN/);
  });
});

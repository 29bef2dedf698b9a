import { describe, expect, it } from 'vitest';
import type { Rich } from '../../report/document.ts';
import type { Json } from '../../schema/json.ts';
import { setupRows } from './report-setup.ts';

const plain = (text: Rich): string => {
  if (typeof text === 'string') return text;
  if (Array.isArray(text)) return text.map((part) => plain(part as Rich)).join('');
  return 'code' in text ? text.code : (text as { strong: string }).strong;
};
const rows = (config: Json | undefined) =>
  Object.fromEntries(setupRows(config).map(([name, text]) => [name, plain(text)]));

const config = {
  name: 'run',
  seed: 3,
  repeats: 2,
  benchmark: {
    haystack: 20,
    sessions: 4,
    evaluator: {
      type: 'ci_llm_judge',
      judge_model_id: 'openai:gpt-4o-mini',
      extra_judges: [{ judge_model_id: 'google:gemini' }],
    },
  },
  experiments: [
    {
      name: 'arm',
      agent: { name: 'assistant', kind: 'llm', model_id: 'openai:gpt-4o', memory_strategy: 'tool' },
      memory: { name: 'words', backend: 'bm25', top_k: 3 },
      defence: { name: 'careful', defence: 'minimiser', model_id: 'openai:gpt-4o-mini' },
    },
  ],
  heams: {
    run_id: 'r',
    dataset: {
      kind: 'hub',
      repository: 'owner/set',
      revision: 'abc',
      sha256: '0123456789abcdef',
      rows: 729,
      samples: 50,
    },
  },
};

describe('setupRows', () => {
  it('says what the arm was set up with', () => {
    expect(rows(config)).toEqual({
      'Agent model, as configured': 'openai:gpt-4o',
      'Memory strategy': 'tool',
      'Memory backend': 'bm25',
      top_k: '3',
      'Defence model, as configured': 'openai:gpt-4o-mini',
      Dataset: 'owner/set, revision abc, 729 rows, 50 samples taken, sha256 0123456789ab',
      Haystack: '20',
      Sessions: '4',
      'Judge model': 'openai:gpt-4o-mini, google:gemini',
      Seed: '3',
      Repeats: '2',
    });
  });

  it('says "none" for what an arm has none of', () => {
    const { haystack: _h, sessions: _s, ...benchmark } = config.benchmark;
    const control = {
      ...config,
      benchmark: { ...benchmark, evaluator: { type: 'ci_string_match' } },
      experiments: [{ name: 'arm', agent: { kind: 'dump' }, memory: { backend: 'full_context' } }],
      heams: { dataset: { kind: 'bundled', name: 'heams_scenarios', samples: 72 } },
    };
    expect(rows(control)).toMatchObject({
      'Agent model, as configured': 'none',
      top_k: 'none: it has no such option',
      'Defence model, as configured': 'none',
      Dataset: 'heams_scenarios, 72 samples taken',
      Haystack: 'none',
      'Judge model': 'none: ci_string_match',
    });
  });

  it.each([[undefined], [null], ['text'], [{}], [{ experiments: [] }], [{ experiments: [{ agent: 1 }] }]])(
    'says that it is not known where the config is %j',
    (broken) => {
      expect(rows(broken as Json | undefined)).toEqual({ Configured: expect.stringMatching(/^unknown/) });
    },
  );

  it('takes what is of another shape for unknown, each by itself', () => {
    const odd = { ...config, seed: 'x', heams: 7, benchmark: 'no' };
    expect(rows(odd)).toMatchObject({ Seed: 'unknown', Dataset: 'unknown', 'Judge model': 'unknown', top_k: '3' });
  });
});

import { describe, expect, it } from 'vitest';
import { problemOf, problemsOf } from '../../test/support/marked.ts';
import { withHeaderSecrets, withoutSecrets } from './secrets.ts';

const settings = (headers: Record<string, string>) => ({ model_id: 'openai:gpt', headers });
const reference = (name: string) => ['$', '{', name, '}'].join('');

describe('withHeaderSecrets', () => {
  it('puts values of the environment in place of their names', () => {
    const headers = {
      Authorization: `Bearer ${reference('TOKEN')}`,
      'X-Pair': `${reference('A')}:${reference('B_2')}`,
      Plain: 'x',
    };
    const filled = withHeaderSecrets(settings(headers), { TOKEN: ' t0k\n', A: '1', B_2: '2' });
    expect(filled.headers).toEqual({ Authorization: 'Bearer t0k', 'X-Pair': '1:2', Plain: 'x' });
  });

  it('leaves the settings it was given alone', () => {
    const given = settings({ A: reference('A') });
    withHeaderSecrets(given, { A: 'secret' });
    expect(given.headers.A).toBe(reference('A'));
    const bare = { model_id: 'openai:gpt' };
    expect(withHeaderSecrets(bare, {})).toBe(bare);
  });

  it('takes a value literally, whatever is in it', () => {
    const filled = withHeaderSecrets(settings({ A: reference('A') }), { A: `$& ${reference('B')} $1` });
    expect(filled.headers?.A).toBe(`$& ${reference('B')} $1`);
  });

  it.each([undefined, '', '  '])('names a variable that is %j, and shows no other value', async (value) => {
    const given = settings({ 'X-Key': `${reference('SET')} ${reference('UNSET')}` });
    const problem = await problemOf(() => withHeaderSecrets(given, { SET: 'hush', UNSET: value }));
    expect(problem).toMatchObject({
      code: 'missing_header_variable',
      message: 'the header "X-Key" of openai:gpt needs UNSET',
      expected: 'UNSET in the environment or in a .env file here',
    });
    expect(problem.describe()).not.toContain('hush');
  });

  it('names every variable that is missing', async () => {
    const given = settings({ X: `${reference('A')}${reference('B')}`, Y: reference('C') });
    const problems = await problemsOf(() => withHeaderSecrets(given, { B: 'b' }));
    expect(problems.map((one) => one.hint)).toEqual(['set A', 'set C']);
  });
});

describe('withoutSecrets', () => {
  it.each([
    [reference('TOKEN'), true],
    [`Bearer ${reference('TOKEN')}`, true],
    [`bearer  ${reference('TOKEN')} `, true],
    [`${reference('USER')}${reference('PASSWORD')}`, true],
    ['Bearer abc', false],
    ['abc', false],
    ['', false],
    ['Bearer', false],
    [`s3cret ${reference('TOKEN')}`, false],
    [`${reference('TOKEN')}s3cret`, false],
    ['Bearer $TOKEN', false],
    [`Bearer ${reference('not a name')}`, false],
  ])('of the header %j keeps it: %s', (value, kept) => {
    const clean = withoutSecrets({ evaluator: { headers: { A: value }, top_p: 1 } });
    expect(clean).toEqual({ evaluator: { headers: { A: kept ? value : '<redacted>' }, top_p: 1 } });
  });

  it('takes credentials out of URLs, wherever they stand', () => {
    expect(
      withoutSecrets({
        base_url: 'https://me:pw@host:8/v1',
        list: ['redis://:pw@host', { deep: 'http://token@host' }],
      }),
    ).toEqual({
      base_url: 'https://<redacted>@host:8/v1',
      list: ['redis://<redacted>@host', { deep: 'http://<redacted>@host' }],
    });
  });

  it('keeps credentials of a URL that only refer to the environment', () => {
    const kept = [
      `postgresql://heams:${reference('PW')}@host:5432/db`,
      `postgresql://${reference('USER')}:${reference('PW')}@host/db`,
      `redis://:${reference('A')}${reference('B')}@host`,
      `https://${reference('TOKEN')}@host`,
      `https://host/mcp?api_key=${reference('KEY')}&page=2`,
    ];
    expect(withoutSecrets(kept)).toEqual(kept);
  });

  it.each([
    [`postgresql://heams:x${reference('PW')}@host/db`, 'postgresql://<redacted>@host/db'],
    [`postgresql://${reference('USER')}:hush@host/db`, 'postgresql://<redacted>@host/db'],
    // A user alone may be a token.
    ['postgresql://heams@host/db', 'postgresql://<redacted>@host/db'],
    ['postgresql://heams:hu@sh@host/db', 'postgresql://<redacted>@host/db'],
    ['POSTGRES://me:pw@host', 'POSTGRES://<redacted>@host'],
    ['postgresql://:@host/db', 'postgresql://<redacted>@host/db'],
    ['https://host/mcp?api_key=hush&page=2', 'https://host/mcp?api_key=<redacted>&page=2'],
    ['https://host/mcp?page=2&accessToken=hush#x', 'https://host/mcp?page=2&accessToken=<redacted>#x'],
    ['postgresql://host/db?user=me&password=hush', 'postgresql://host/db?user=me&password=<redacted>'],
    ['https://me:pw@host/?sig=hush', 'https://<redacted>@host/?sig=<redacted>'],
  ])('of %j shows %j', (url, shown) => {
    expect(withoutSecrets({ url })).toEqual({ url: shown });
  });

  it('takes out what opens something for a program, and leaves the rest of what it is given', () => {
    const env = { API_KEY: 'hush', GH_TOKEN: reference('GH'), PATH_TO: '/keys', dbPassword: `x${reference('PW')}` };
    expect(withoutSecrets({ env })).toEqual({
      env: { ...env, API_KEY: '<redacted>', dbPassword: '<redacted>' },
    });
    expect(withoutSecrets({ env: ['API_KEY'] })).toEqual({ env: ['API_KEY'] });
  });

  it('takes secrets out of the arguments of a program, and leaves references and the rest', () => {
    const given = [
      '--api-key=hush',
      '--token',
      'hush',
      '--password',
      reference('PW'),
      '--max-tokens=5',
      '-v',
      '--key=',
      'x',
    ];
    expect(withoutSecrets({ args: [...given, `--secret=${reference('S')}`] })).toEqual({
      args: [
        '--api-key=<redacted>',
        '--token',
        '<redacted>',
        '--password',
        reference('PW'),
        '--max-tokens=5',
        '-v',
        '--key=',
        'x',
        `--secret=${reference('S')}`,
      ],
    });
  });

  it('leaves everything else as it is', () => {
    const config = {
      base_url: 'https://host/v1?to=me@host',
      query: 'https://host/v1?keyword=x&author=y&key=',
      question: 'What is at host/x?key=value',
      prompt: 'Write to me@host: {{ user_task }}',
      n: 1,
      none: null,
      yes: true,
      list: [1, 'a'],
    };
    expect(withoutSecrets(config)).toEqual(config);
  });
});

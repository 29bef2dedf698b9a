import { describe, expect, it } from 'vitest';
import { componentPath } from './find-config.ts';

describe('componentPath', () => {
  it('looks a bare name up in the folder of its kind, under the nearest ancestor called configs', () => {
    const from = '/home/me/configs/runs/deep/er/smoke.yaml';
    expect(componentPath('a.yaml', 'agents', from)).toBe('/home/me/configs/agents/a.yaml');
    expect(componentPath('a.yaml', 'memory', from)).toBe('/home/me/configs/memory/a.yaml');
    expect(componentPath('testing/b.yaml', 'benchmarks', from)).toBe('/home/me/configs/benchmarks/testing/b.yaml');
  });

  it('takes the innermost of several configs folders', () => {
    const from = '/configs/old/configs/runs/smoke.yaml';
    expect(componentPath('a.yaml', 'agents', from)).toBe('/configs/old/configs/agents/a.yaml');
  });

  it('takes no folder whose name only looks like configs', () => {
    expect(componentPath('a.yaml', 'agents', '/my-configs/configs.d/smoke.yaml')).toBe('/my-configs/configs.d/a.yaml');
  });

  it('resolves ./ and ../ against the file that names them, also below configs', () => {
    const from = '/p/configs/runs/smoke.yaml';
    expect(componentPath('./a.yaml', 'agents', from)).toBe('/p/configs/runs/a.yaml');
    expect(componentPath('../a.yaml', 'agents', from)).toBe('/p/configs/a.yaml');
  });

  it('takes a hidden file for a bare name, not for a relative path', () => {
    expect(componentPath('.a.yaml', 'agents', '/p/configs/runs/smoke.yaml')).toBe('/p/configs/agents/.a.yaml');
  });

  it('leaves an absolute path alone', () => {
    expect(componentPath('/else/a.yaml', 'agents', '/p/configs/runs/smoke.yaml')).toBe('/else/a.yaml');
  });

  it('without a configs ancestor, a bare name stands beside the file', () => {
    expect(componentPath('a.yaml', 'agents', '/p/runs/smoke.yaml')).toBe('/p/runs/a.yaml');
  });
});

import { describe, expect, it } from 'vitest';
import { commandLine, selfCommand } from './self.ts';

describe('selfCommand', () => {
  it.each([
    ['/srv/project/node_modules/.bin/heams', '/srv/project', 'npx heams'],
    ['/home/u/.npm/_npx/1a2b/node_modules/.bin/heams', '/srv/project', 'npx heams'],
    ['/srv/project/node_modules/heams/dist/cli/main.js', '/srv/project', 'npx heams'],
    ['/usr/local/bin/heams', '/srv/project', 'heams'],
    ['/srv/heams/dist/cli/main.js', '/srv/heams', 'node dist/cli/main.js'],
    ['/srv/heams/dist/cli/main.js', '/srv/heams/examples', 'node ../dist/cli/main.js'],
    ['/srv/my heams/dist/cli/main.js', '/srv', 'node "my heams/dist/cli/main.js"'],
    ['/srv/heams/src/cli/main.ts', '/srv/heams', 'node --import tsx src/cli/main.ts'],
    [undefined, '/srv', 'heams'],
  ])('reads %s from %s as %s', (script, cwd, command) => {
    expect(selfCommand(script, cwd)).toBe(command);
  });

  it('stands before what is to be done, and is "heams" where nobody knows', () => {
    const io = { out: () => {}, note: () => {}, terminal: false, env: {}, cwd: '/' };
    expect(commandLine({ ...io, command: 'npx heams' }, 'list')).toBe('npx heams list');
    expect(commandLine(io, 'list')).toBe('heams list');
  });
});

import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { isLoopback, placeOf, reachServer } from './reach-server.ts';

describe('placeOf', () => {
  it.each([
    ['http://127.0.0.1:8080/v1', { host: '127.0.0.1', port: 8080 }],
    ['https://api.example.com/x', { host: 'api.example.com', port: 443 }],
    ['http://[::1]/', { host: '::1', port: 80 }],
    ['postgresql://me:pw@db/x', { host: 'db', port: 5432 }],
    ['redis://h:6380', { host: 'h', port: 6380 }],
    ['unknown://h', undefined],
    ['postgresql:///x?host=/run', undefined],
    ['not an address', undefined],
  ])('of %s is %j', (address, place) => {
    expect(placeOf(address)).toEqual(place);
  });
});

describe('isLoopback', () => {
  it.each([
    ['http://localhost:1', true],
    ['http://127.8.0.1', true],
    ['http://[::1]:3', true],
    ['http://127.0.0.1.example.com', false],
    ['http://localhost.example.com', false],
    ['http://10.0.0.1', false],
    ['', false],
  ])('of %s is %s', (address, is) => {
    expect(isLoopback(address)).toBe(is);
  });
});

describe('reachServer', () => {
  const never = new AbortController().signal;
  const listening = async () => {
    const server = createServer((socket) => socket.on('error', () => {}));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { server, place: { host: '127.0.0.1', port: (server.address() as { port: number }).port } };
  };

  it('is there where somebody listens, and says who does not answer where nobody does', async () => {
    const { server, place } = await listening();
    await reachServer(place, never);
    await new Promise((resolve) => server.close(resolve));
    await expect(reachServer(place, never)).rejects.toMatchObject({
      code: 'server_unreachable',
      message: `nothing answers at 127.0.0.1:${place.port}: ECONNREFUSED`,
    });
  });

  it('is given up with its signal', async () => {
    const { server, place } = await listening();
    const signal = AbortSignal.abort(new Error('too late'));
    await expect(reachServer(place, signal)).rejects.toThrow('too late');
    await new Promise((resolve) => server.close(resolve));
  });
});

import { expect, it } from 'vitest';
import { fakeStatus, storeContract } from '../../test/support/store-contract.ts';
import { MemoryStore } from './memory-store.ts';

storeContract('in memory', async () => {
  const store = new MemoryStore();
  return { store, status: async (experiment) => store.statuses.get(experiment), remove: async () => {} };
});

it('keeps a status as it was when it was written', async () => {
  const store = new MemoryStore();
  const status = fakeStatus();
  await store.writeStatus(status);
  status.done = 99;
  expect(store.statuses.get('arm')?.done).toBe(1);
});

import { spawnLoopback } from './test/support/spawn-loopback.ts';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import http from 'node:http';
const server = await spawnLoopback({ latencyMs: Number(process.argv[2] ?? 0) });
const prompt = 'word '.repeat(400);
const body = (i:number) => JSON.stringify({ model:'x', messages: [{role:'system',content:'judge'},{role:'user',content: prompt + i}] });
const measure = async (name: string, one: (i: number) => Promise<unknown>) => {
  const run = async (n: number) => { let i = 0; await Promise.all(Array.from({length: 64}, async () => { while (i < n) { i++; await one(i); } })); };
  await run(300); const c0 = process.cpuUsage(); const t0=performance.now(); await run(2000); const c = process.cpuUsage(c0); console.log(name, (c.user + c.system)/2000/1000, 'ms cpu', performance.now()-t0);
};
const agent = new http.Agent({ keepAlive: true });
await measure('http', (i) => new Promise((res, rej) => { const b = body(i); const r = http.request(server.baseUrl + '/chat/completions', { method: 'POST', agent, headers: {'content-type':'application/json','content-length': Buffer.byteLength(b)} }, (m) => { const ch: Buffer[] = []; m.on('data', c => ch.push(c)); m.on('end', () => res(JSON.parse(Buffer.concat(ch).toString()))); }); r.on('error', rej); r.end(b); }));
await measure('fetch', async (i) => { const r = await fetch(server.baseUrl + '/chat/completions', { method: 'POST', body: body(i), headers: {'content-type':'application/json'} }); return r.json(); });
const m = createOpenAICompatible({ name: 'x', baseURL: server.baseUrl }).chatModel('x');
await measure('sdk', (i) => m.doGenerate({ prompt: [{role:'system',content:'judge'},{role:'user',content: [{type:'text', text: prompt + i}]}] }) as Promise<unknown>);
await server.close(); agent.destroy();

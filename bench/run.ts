import { parseArgs } from 'node:util';
import { campaign } from './campaign.ts';
import { startUp } from './start-up.ts';

/** One command, ratios on standard error, JSON on standard output. `npm run bench -- --only campaign,start-up` */
const { values } = parseArgs({ options: { only: { type: 'string', default: 'campaign,start-up' } } });
const wanted = new Set(values.only.split(','));
const results: Record<string, unknown> = { node: process.version, platform: `${process.platform} ${process.arch}` };

if (wanted.has('start-up')) {
  const result = startUp();
  results.start_up = result;
  console.error(`start-up: heams --help takes ${result.help_over_node.toFixed(2)} times node -e 0`);
  console.error(`start-up: heams validate of the demo takes ${result.validate_over_node.toFixed(2)} times node -e 0`);
}
if (wanted.has('campaign')) {
  const result = await campaign({ latencyMs: 200, connections: 64 });
  results.campaign = result;
  console.error(
    `campaign: ${result.calls} calls at 200 ms over 64 connections take ${result.wall_over_floor.toFixed(3)} times the floor`,
  );
}
console.log(JSON.stringify(results, null, 2));

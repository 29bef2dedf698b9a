// Builds `dist/` by tsdown.config.ts, and says something only when it fails.
import { build } from 'tsdown';

await build({ logLevel: 'error' });

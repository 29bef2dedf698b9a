import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../../../shared/data/', import.meta.url));

/** The folder with the real 729 rows and recorded verdicts, where it is laid beside the repository. */
export const sharedData: string | undefined = existsSync(folder) ? folder : undefined;

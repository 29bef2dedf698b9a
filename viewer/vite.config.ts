import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** One classic script and one style sheet: a page opened from a folder may load these, and no module. */
export default defineConfig({
  root: here('.'),
  configFile: false,
  publicDir: false,
  logLevel: 'error',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: here('../dist/viewer'),
    emptyOutDir: true,
    target: 'es2022',
    lib: {
      entry: here('src/main.tsx'),
      formats: ['iife'],
      name: 'heamsViewer',
      fileName: () => 'page.js',
      cssFileName: 'page',
    },
  },
  define: { 'process.env.NODE_ENV': '"production"' },
});

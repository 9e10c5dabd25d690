import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { PHONE_MODULES } from './phone-modules.ts';

const example = join(import.meta.dirname, '..', '..', '..', '..', 'examples', 'expo');
const files = Object.entries(PHONE_MODULES).map(([name, file]) => ({
  find: new RegExp(`^${name}$`),
  replacement: join(import.meta.dirname, 'phone', file),
}));

export default defineConfig({
  plugins: [react()],
  resolve: {
    alias: [...files, { find: 'the-example', replacement: join(example, 'src/index.ts') }],
  },
  // Metro puts in the app's own variables.
  define: { 'process.env.EXPO_PUBLIC_GRAPHQL_URL': 'globalThis.graphqlUrl' },
});

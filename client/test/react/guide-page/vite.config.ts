import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { namedSamples } from '../../support/samples.ts';

const ENDPOINT = "'http://127.0.0.1:4000/graphql'";
const app = join(import.meta.dirname, 'App.tsx');

/** Gives the page the app of the guide, with the endpoint of the test. */
function guide(): Plugin {
  return {
    name: 'guide',
    resolveId: (id) => (id === 'guide:App.tsx' ? app : null),
    load(id) {
      if (id !== app) return null;
      const sample = namedSamples('docs/clients/react.md').get('src/App.tsx')?.text ?? '';
      if (!sample.includes(ENDPOINT)) throw new Error('The sample does not name the endpoint.');
      return sample.replace(ENDPOINT, 'import.meta.env.VITE_GRAPHQL_URL');
    },
  };
}

export default defineConfig({ plugins: [guide(), react()] });

import { transformAsync } from '@babel/core';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

// Turns each graphql`…` into an import of what relay-compiler has written.
const relay: Plugin = {
  name: 'relay',
  enforce: 'pre',
  transform: {
    filter: { id: /\.tsx?$/, code: /graphql`/ },
    async handler(code, filename) {
      const result = await transformAsync(code, {
        filename,
        configFile: false,
        parserOpts: { plugins: ['typescript', 'jsx'] },
        plugins: [['relay', { eagerEsModules: true }]],
      });
      return result?.code;
    },
  },
};

export default defineConfig({ plugins: [relay, react()] });

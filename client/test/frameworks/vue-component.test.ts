import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { createApp, packagesOf } from '../support/installed-app.ts';
import { namedSamples } from '../support/samples.ts';

vi.setConfig({ testTimeout: 300_000 });

// Nuxt's packages have Vue's compiler, and the runner of such a test beside it.
const { packages, reason } = await packagesOf(join(import.meta.dirname, 'nuxt-packages'));

test.skipIf(reason !== '')(
  `the component test of frameworks.md passes as it is printed${reason}`,
  async () => {
    using app = createApp(packages);
    await app.install();
    const files = ['ten-minutes', 'frameworks'].map((guide) =>
      namedSamples(`docs/clients/${guide}.md`),
    );
    for (const file of ['App.test.ts', 'App.vue', 'client.ts', 'followed.ts', 'ticket.ts']) {
      const sample = files.flatMap((named) => named.get(`src/${file}`) ?? [])[0];
      app.write(`src/${file}`, sample?.text ?? '');
    }
    app.write(
      'vite.config.ts',
      "import vue from '@vitejs/plugin-vue';\nexport default { plugins: [vue()] };\n",
    );
    expect(await app.run('vitest/vitest.mjs', 'run')).toMatch(/Tests .*1 passed/);
  },
);

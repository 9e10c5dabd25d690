import type { InstalledApp } from '../support/installed-app.ts';

/** A new app of Next, as its own program makes it. */
export const NEXT_APP = {
  name: 'Next',
  packages: 'next-packages',
  env: { NEXT_TELEMETRY_DISABLED: '1' },
  async create(app: InstalledApp): Promise<void> {
    const options = '--yes --ts --app --no-tailwind --no-linter --no-src-dir --skip-install';
    await app.create('create-next-app/dist/index.js', 'app', ...options.split(' '));
    // The layout of a new app would fetch its fonts in the build.
    app.write(
      'app/layout.tsx',
      `export default ({ children }: { children: React.ReactNode }) =>
  <html lang="en"><body>{children}</body></html>;`,
    );
  },
  build: ['next/dist/bin/next', 'build'],
} as const;

export const NEXT_SERVER = ['node_modules/next/dist/bin/next', 'start', '-H', '127.0.0.1'] as const;

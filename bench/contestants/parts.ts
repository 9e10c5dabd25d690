/** Loads the parts of this project one after the other, and prints what each took, as JSON. */
const PARTS: Readonly<Record<string, () => Promise<unknown>>> = {
  undici: () => import('undici'),
  graphql: () => import('graphql'),
  '@pothos/core': () => import('@pothos/core'),
  'ws, graphql-ws': () => Promise.all([import('ws'), import('graphql-ws')]),
  'prom-client, pino': () => Promise.all([import('prom-client'), import('pino')]),
  'all else that starts': () => import('../../src/app.ts'),
  'late: yoga, with its first request': () => import('../../src/server/http/yoga.ts'),
  'late: jose, with a key': () => import('jose'),
  'late: Redis, with an address': () =>
    Promise.all([import('../../src/store/redis/open-stores.ts'), import('ioredis')]),
  'late: the sandbox, in its mode': () => import('../../src/sandbox/start.ts'),
};

const shares: Record<string, { cpuMs: number; residentMb: number }> = {};
for (const [name, load] of Object.entries(PARTS)) {
  const before = process.memoryUsage.rss();
  const cpu = process.cpuUsage();
  await load();
  const { user, system } = process.cpuUsage(cpu);
  const residentMb = (process.memoryUsage.rss() - before) / 1_048_576;
  shares[name] = { cpuMs: (user + system) / 1_000, residentMb };
}
process.stdout.write(JSON.stringify(shares));

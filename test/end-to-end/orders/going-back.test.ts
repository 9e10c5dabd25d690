import { execFile } from 'node:child_process';
import { cpSync, existsSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { type FacadeProcess, startFacadeProcess } from '../../support/facade-process.ts';
import { failedStart } from '../../support/failed-start.ts';
import { FRESH_WITHIN_MS } from '../../support/fresh-order.ts';
import { newKey } from '../../support/order-keys.ts';
import { ownFolder } from '../../support/own-folder.ts';
import { SOURCES } from '../../support/program.ts';
import { startTestRedis } from '../../support/redis.ts';
import { OrderClient } from './order-client.ts';
import { marketOrder } from './order-request.ts';

/** A version of the program, with the settings of a store. */
interface Version {
  readonly program: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Where two versions keep their records, as docs/deployment.md says. */
interface Stores {
  environmentOf(version: 'this' | 'next'): Version['environment'];
  /** Puts the records of a version in place of the other's. */
  use(version: 'this' | 'next'): void;
  /** Changes the number of the format of this version's records. */
  setFormat(format: number): Promise<unknown>;
}

const FOREIGN = 'another version of this program has written';
const REFUSED = { code: 'IDEMPOTENCY_UNAVAILABLE', isRetryable: false };
const TIMEOUT_MS = 300_000;
const folder = ownFolder();
const run = promisify(execFile);

/** Copies the program with the next number of the formats of records. Returns its main file, and the present number. */
function copyNextVersion() {
  const source = dirname(SOURCES);
  const copy = join(folder.path, 'next');
  cpSync(source, join(copy, 'src'), { recursive: true });
  for (const each of ['package.json', 'node_modules']) {
    symlinkSync(join(source, '..', each), join(copy, each));
  }
  const formats = ['store/sqlite/file-schema.ts', 'store/redis/script-head.ts'].map((file) => {
    const path = join(copy, 'src', file);
    const text = readFileSync(path, 'utf8');
    const format = Number(/^const VERSION = (\d+);$/m.exec(text)?.[1]);
    writeFileSync(path, text.replace(/^const VERSION = .*$/m, `const VERSION = ${format + 1};`));
    return format;
  });
  expect(new Set(formats).size).toBe(1);
  return { program: join(copy, 'src', 'main.ts'), format: formats[0] ?? Number.NaN };
}

/** Goes on to the next version, back, and forward again. Repeats of an order are answered by the version that has it, and refused by the other. */
async function expectNoneTwice(stores: Stores): Promise<void> {
  const { program, format } = copyNextVersion();
  await using sandbox = await startSandbox({ tickMs: 0, instruments: 40 });
  const token = sandbox.token({ email: 'demo@example.com' });
  const versions = {
    this: { program: SOURCES, environment: stores.environmentOf('this') },
    next: { program, environment: stores.environmentOf('next') },
  };
  const taken: { readonly name: string; readonly key: string; readonly by: Version }[] = [];

  const start = ({ program: main, environment }: Version) =>
    startFacadeProcess({ ...environment, GATEWAY_URL: sandbox.url }, [], main);
  async function withClient<T>(process: FacadeProcess, use: (client: OrderClient) => Promise<T>) {
    const client = new OrderClient(process, token);
    try {
      return await use(client);
    } finally {
      client.close();
    }
  }
  /** Repeats all orders, and then places new ones until one is taken. */
  async function trade(client: OrderClient, by: Version): Promise<void> {
    for (const order of taken) {
      const reply = await client.place(marketOrder(order.name, 'AAPL', order.key));
      expect(reply).toMatchObject(
        order.by === by ? { type: 'OrderAccepted', replayed: true } : REFUSED,
      );
    }
    const name = `order ${taken.length}`;
    const isTaken = async () => {
      const key = newKey();
      expect(await client.place(marketOrder(name, 'AAPL', key))).toMatchObject({ replayed: false });
      taken.push({ name, key, by });
    };
    await eventually(isTaken, { withinMs: FRESH_WITHIN_MS });
    expect(sandbox.calls('openPosition')).toBe(taken.length);
  }
  async function expectNoStart({ program: main, environment }: Version): Promise<void> {
    const settings = { ...environment, GATEWAY_URL: sandbox.url };
    const { code, problems } = await failedStart(settings, [main]);
    const lines = ['The configuration is wrong:', expect.stringContaining(FOREIGN)];
    expect({ code, problems }).toEqual({ code: 78, problems: lines });
  }
  async function change(to: 'this' | 'next'): Promise<void> {
    stores.use(to);
    const { program: main, environment } = versions[to];
    if (!taken.some(({ by }) => by === versions[to])) return;
    const cli = join(dirname(main), 'cli', 'main.ts');
    const env = { ...environment, GATEWAY_URL: sandbox.url, PATH: process.env.PATH };
    await run(process.execPath, [cli, 'orders', 'incomplete'], { env });
  }

  {
    await using one = await start(versions.this);
    await withClient(one, (client) => trade(client, versions.this));
    // The number is read at each look.
    await stores.setFormat(format + 1);
    const refusals = () => one.logged.filter((line) => line.includes(`${FOREIGN} `));
    await eventually(() => refusals().length > 0);
    const refused = await withClient(one, (client) =>
      client.place(marketOrder('new', 'AAPL', newKey())),
    );
    expect(refused).toMatchObject({ code: 'IDEMPOTENCY_UNAVAILABLE' });
    expect(refusals()).toHaveLength(1);
    await stores.setFormat(format);
  }
  // The next version in the place of this one, and this one in the place of the next.
  await expectNoStart({ ...versions.next, environment: versions.this.environment });
  for (const to of ['next', 'this', 'next'] as const) {
    await change(to);
    await using one = await start(versions[to]);
    await withClient(one, (client) => trade(client, versions[to]));
    if (to === 'next' && taken.length < 3) {
      await expectNoStart({ ...versions.this, environment: versions.next.environment });
    }
  }
}

test(
  'back to an earlier version and forward again with files, no order is sent twice',
  async () => {
    const path = join(folder.path, 'orders.db');
    const move = (from: string, to: string) => {
      for (const each of ['', '.mark']) {
        if (existsSync(`${from}${each}`)) renameSync(`${from}${each}`, `${to}${each}`);
      }
    };
    await expectNoneTwice({
      environmentOf: () => ({ ORDER_STORE: path }),
      use(version) {
        move(path, `${path}.${version === 'this' ? 'next' : 'this'}`);
        move(`${path}.${version}`, path);
      },
      async setFormat(format) {
        using database = new DatabaseSync(path, { timeout: 5_000 });
        database.exec(`PRAGMA user_version = ${format}`);
      },
    });
  },
  TIMEOUT_MS,
);

describeWithRedis('with Redis', (serverPath) => {
  test(
    'back to an earlier version and forward again, no order is sent twice',
    async () => {
      await using redis = await startTestRedis(serverPath);
      const marker = 'this:{orders}:marker';
      await expectNoneTwice({
        environmentOf: (version) => ({ REDIS_URL: redis.url, REDIS_PREFIX: `${version}:` }),
        use() {},
        setFormat: (format) => redis.command('HSET', marker, 'version', format),
      });
    },
    TIMEOUT_MS,
  );
});

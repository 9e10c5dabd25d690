import { execFileSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import type { Environment } from '../../src/config.ts';
import { startSandbox } from '../../src/sandbox/start.ts';
import { buying } from '../support/buying.ts';
import { withEarlierStore } from '../support/earlier-store.ts';
import { type FacadeProcess, startFacadeProcess } from '../support/facade-process.ts';
import { freshOrderTaken } from '../support/fresh-order.ts';
import { inFull } from '../support/in-full.ts';
import { temporaryFolder } from '../support/own-folder.ts';
import type { Program } from '../support/started-program.ts';
import { imageEnvironment } from './support/compose-file.ts';

/** Settings for this machine: free ports, and no delay for a load balancer. */
const LOCAL_SETTINGS = {
  HOST: '127.0.0.1',
  ADMIN_HOST: '127.0.0.1',
  PORT: '0',
  ADMIN_PORT: '0',
  SHUTDOWN_DELAY_MS: '0',
};

type Processes = readonly FacadeProcess[];
type When = 'at once' | 'within seconds';

/** Shell scripts that change the data folder `$1` while the service is stopped. The folder `$2` has a backup. */
const SCRIPTS: readonly (readonly [how: string, when: When, script: string])[] = [
  ['whose files were chowned to the same owner', 'at once', 'chown -R "$(id -u):$(id -g)" "$1"'],
  ['started again', 'at once', ':'],
  [
    'on a volume whose group kubelet sets, by fsGroup',
    'at once',
    'chown -R ":$(id -g)" "$1" && chmod -R g+rwX "$1"',
  ],
  ['on a volume that was unmounted', 'at once', 'mv "$1" "$2/away" && mv "$2/away" "$1"'],
  [
    'moved to another disk by an archive',
    'within seconds',
    // The former files stay in `$2`, so that no new file gets the inode of a former file.
    'tar -C "$1" -cf "$2/moved.tar" . && mv "$1" "$2" && mkdir "$1" && tar -C "$1" -xf "$2/moved.tar"',
  ],
  [
    'restored from a backup',
    'within seconds',
    'rm -r "$1"/* && install -m 600 "$2/backup.db" "$1/orders.db"',
  ],
];

describe.each([
  {
    name: 'two processes with one file',
    environments: [{ NODE_ENV: 'production' }, { NODE_ENV: 'production' }],
    scripts: inFull(SCRIPTS, SCRIPTS.slice(0, 1)),
  },
  {
    name: 'the image',
    environments: [imageEnvironment],
    scripts: inFull(SCRIPTS, []),
  },
])('$name', ({ environments, scripts }) => {
  test.concurrent.each(scripts)('%s takes new orders %s', async (_, when, script) => {
    await using folder = await temporaryFolder();
    const [data, spare] = [join(folder.path, 'data'), join(folder.path, 'spare')];
    for (const path of [data, spare]) await mkdir(path, { mode: 0o700 });
    const file = join(data, 'orders.db');
    await takesOrdersAfter(environments, { ORDER_STORE: file }, when, async (processes) => {
      {
        using database = new DatabaseSync(file, { readOnly: true });
        database.exec(`VACUUM INTO '${join(spare, 'backup.db')}'`);
      }
      await stop(processes);
      execFileSync('sh', ['-ec', script, 'sh', data, spare]);
      await start(processes);
    });
  });

  test('takes new orders at once after an upgrade, one process after another, and a power cut', async () => {
    await using folder = await temporaryFolder();
    const own = { ORDER_STORE: join(folder.path, 'orders.db') };
    await takesOrdersAfter(environments, own, 'at once', async (processes) => {
      await upgrade(processes);
      await cutPower(processes);
      await start(processes);
    });
  });
});

/** Records an order, runs an operation on the processes, and then places new orders and repeats the recorded order. */
async function takesOrdersAfter(
  environments: readonly Environment[],
  own: Environment,
  when: When,
  operate: (processes: Processes) => Promise<void>,
): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const sandbox = opened.use(await startSandbox({ tickMs: 0, instruments: 40 }));
  await withEarlierStore(own);
  const processes = await Promise.all(
    environments.map(async (environment) => {
      const env = { ...environment, ...LOCAL_SETTINGS, ...own, GATEWAY_URL: sandbox.url };
      return opened.use(await startFacadeProcess(env));
    }),
  );
  const token = sandbox.token({ email: 'demo@example.com' });
  const placeOld = (each: FacadeProcess) => each.query(buying('old', '__typename'), { token });
  const accepted = { data: { placeOrder: { __typename: 'OrderAccepted' } } };
  for (const each of processes) expect(await placeOld(each)).toMatchObject(accepted);
  await operate(processes);
  const refusals: number[] = [];
  for (const each of processes) {
    refusals.push(await freshOrderTaken(each.url, sandbox));
    await placeOld(each);
  }
  const wasRefused = Math.max(...refusals) > 0;
  expect(wasRefused ? 'within seconds' : 'at once').toBe(when);
  // The old order was sent once, and each process has sent one new order.
  expect(sandbox.calls('openPosition')).toBe(1 + processes.length);
}

async function start(programs: readonly Program[]): Promise<void> {
  await Promise.all(programs.map((each) => each.start()));
}

async function stop(programs: readonly Program[]): Promise<void> {
  for (const each of programs) each.signal('SIGTERM');
  for (const each of programs) expect(await each.ended()).toBe(0);
}

async function upgrade(processes: Processes): Promise<void> {
  for (const each of processes) {
    await stop([each]);
    await each.start();
  }
}

async function cutPower(programs: readonly Program[]): Promise<void> {
  await Promise.all(programs.map((each) => each.kill()));
}

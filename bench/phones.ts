/**
 * The longest stop of an app by a catalog of 5,000 instruments, all fields, on an engine that compiles nothing, as Hermes.
 * `npm run bench -- phones` prints Markdown.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { catalog } from '../client/src/catalog.ts';
import { createClientWith } from '../client/src/core-client.ts';
import { INSTRUMENT_FIELDS, type Instrument } from '../client/src/generated/rows.ts';
import { asyncStorage } from '../client/src/storage/async-storage.ts';
import { HoldWatch } from './support/hold-watch.ts';

const ROUNDS = 5;
const SETTLED_MS = 2_000;
const TEXTS = ['a', 'eur', 'aapl', 'inc apple', 'usd jpy', 'micrsoft', 'technologgy', 'qzxvwq'];

const given = process.argv[2];
if (given === undefined) await runSlowly();
else await measure(JSON.parse(readFileSync(given, 'utf8')));

/** Runs this file packed into one, because Node takes types away by what it compiles. */
async function runSlowly(): Promise<void> {
  const { build } = await import('rolldown');
  const { startTestApp } = await import('../test/support/app.ts');
  await using app = await startTestApp({ SANDBOX_INSTRUMENTS: '5000', MAX_COST: '1000000' });
  const token = app.sandbox.token({ email: 'demo@example.com' });
  const query = `{ catalog { instruments { ${INSTRUMENT_FIELDS.join(' ')} } } }`;
  const { data } = await app.query(query, { token });
  using folder = mkdtempDisposableSync(join(tmpdir(), 'phones-'));
  const [packed, rows] = [join(folder.path, 'phones.mjs'), join(folder.path, 'rows.json')];
  writeFileSync(rows, JSON.stringify(data.catalog.instruments));
  const external = [/^node:/, 'rolldown', /support\/app/];
  await build({ input: import.meta.filename, external, output: { file: packed } });
  const { status } = spawnSync(process.execPath, ['--jitless', packed, rows], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}

async function measure(rows: readonly Instrument[]): Promise<void> {
  const entries = new Map<string, string>();
  let written = 0;
  // Each call of a native store comes back in a turn of its own.
  const storage = asyncStorage({
    getItem: async (key) => turn(entries.get(key) ?? null),
    getAllKeys: async () => turn([...entries.keys()]),
    removeItem: async (key) => turn(void entries.delete(key)),
    setItem: async (key, text) => {
      written += text.length;
      await turn(entries.set(key, text));
    },
  });
  const session = { login: '700001', group: 'standard' };
  let edition = { version: '0', upserted: rows };
  const answer = (since: string) => {
    const upserted = since === edition.version ? [] : edition.upserted;
    const changes = { ...edition, upserted, removed: [], reset: since === '' };
    return { session, catalog: { ...session, ageSeconds: 1, size: rows.length, changes } };
  };
  const fetch: typeof globalThis.fetch = async (_url, init) =>
    Response.json({ data: answer(JSON.parse(String(init?.body)).variables?.since) });
  const own = { url: 'http://127.0.0.1', token: () => 'token' };
  const options = { ...own, storage, environment: { fetch } };
  const stops = new Map<string, number[]>();
  const note = (what: string, ms: number) => stops.set(what, [...(stops.get(what) ?? []), ms]);
  const watch = async (what: string, task: () => Promise<void>) => {
    const holds = new HoldWatch();
    await task().then(() => delay(SETTLED_MS));
    note(what, holds.end());
  };
  await watch('first load', () => createClientWith(options, catalog()).catalog.load());
  for (let round = 0; round < ROUNDS; round += 1) {
    const client = createClientWith(options, catalog());
    await watch('restart', () => client.catalog.load());
    const some = rows.slice(round * 40, round * 40 + 40);
    edition = { version: `v${round}`, upserted: some.map((row) => ({ ...row, leverage: round })) };
    written = 0;
    await watch('save of 40 in a row', () => client.catalog.sync());
    for (const text of TEXTS) {
      const startedAt = performance.now();
      client.catalog.search(text);
      note(`find ${text}`, performance.now() - startedAt);
    }
  }
  console.log(`| longest stop | ms |\n|---|---|\n| kB of a save | ${written / 1_000} |`);
  // The least of the rounds, because what else the machine does only adds to it.
  for (const [what, ms] of stops) console.log(`| ${what} | ${Math.min(...ms).toFixed(1)} |`);
}

import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { buying } from '../../support/buying.ts';
import { eventually } from '../../support/eventually.ts';
import { mutated } from './mutated.ts';
import { healthy } from './side-service.ts';
import { useExtension } from './use-extension.ts';

const MUTANTS = 100;
const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const EXAMPLE = join(import.meta.dirname, '../../../examples/extension/graph.ts');

const folder = mkdtempSync(join(tmpdir(), 'mutants-'));
symlinkSync(join(import.meta.dirname, '../../../node_modules'), join(folder, 'node_modules'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'mutants.ts');
const control = join(folder, 'control');
const { text, mutantsAt } = mutated(readFileSync(EXAMPLE, 'utf8'), control);
writeFileSync(file, text);
writeFileSync(control, '');

const { service, facade, query, tokenOf } = useExtension(
  relative(import.meta.dirname, file),
  (url) => ({
    NEWS_URL: url,
    NODE_ENV: 'production',
    ORDER_STORE: 'memory',
    RATE_LIMIT_PER_MINUTE: '1000000',
    COST_LIMIT_PER_MINUTE: '100000000',
    EXTENSION_TIMEOUT_MS: '300',
  }),
);

const BYSTANDING = '{ session { id } positions { id symbol } instrument(id: "AAPL") { id name } }';
const EMAILS = ['demo@example.com', 'pro@example.com', 'fresh@example.com'];

/** Selects every field of the extension, once below the outcome of an order; the outcomes of the orders are what matters. */
async function selectAll(name: string, at: number): Promise<unknown> {
  const token = tokenOf(EMAILS[at % EMAILS.length]);
  const article = '{ id headline publishedAt instrument { id } }';
  const alert = '{ id symbol price }';
  const reads = `{ news(symbol: "S ${name}") ${article} priceAlerts ${alert} instrument(id: "AAPL") { news ${article} } }`;
  const write = `mutation { createPriceAlert(symbol: "AAPL", price: 7) ${alert} }`;
  const news = `positions { instrument { news ${article} } }`;
  const order = buying(`mutant ${name}`, `__typename ... on OrderAccepted { orderId ${news} }`);
  await Promise.all([query(reads, { token }), query(write, { token })]);
  service.answer = (request) =>
    request.method === 'POST' ? { status: 409, body: { message: 'full' } } : healthy(request);
  await query(write, { token });
  service.answer = healthy;
  const { data } = await query(order, { token: tokenOf(EMAILS[2]) });
  return data?.placeOrder?.__typename;
}

test('no mutant of the example ends the process, or changes an answer to a request that does not select it', async () => {
  const pid = facade.pid();
  const bystander = tokenOf(EMAILS[0]);
  const answered = await query(BYSTANDING, { token: bystander });
  expect(answered.errors).toEqual([]);
  writeFileSync(control, 'none');
  await selectAll('none', 0);
  const seen = readFileSync(`${control}.seen`, 'utf8').trim().split(' ').map(Number);
  const all = [...new Set(seen)].flatMap(mutantsAt);
  const some = fc.sample(fc.shuffledSubarray(all, { minLength: MUTANTS, maxLength: MUTANTS }), {
    seed: SEED,
    numRuns: 1,
  });
  for (const [at, mutant] of (some[0] ?? []).entries()) {
    writeFileSync(`${control}.seen`, '');
    writeFileSync(control, mutant);
    const [outcome, beside] = await Promise.all([
      selectAll(mutant, at),
      query(BYSTANDING, { token: bystander }),
    ]);
    const where = `mutant ${mutant} of seed ${SEED}`;
    expect(`${where}: ${readFileSync(`${control}.seen`, 'utf8')}`).toMatch(
      new RegExp(`[: ]${mutant.split(' ')[0]} `),
    );
    expect([where, outcome]).toEqual([where, 'OrderAccepted']);
    expect([where, beside.data, beside.errors]).toEqual([where, answered.data, []]);
    expect([where, facade.pid()]).toEqual([where, pid]);
  }
  writeFileSync(control, '');
  // The mutants leave nothing behind that changes a later answer.
  await eventually(
    async () => (await query('{ news(symbol: "EURUSD") { id } }')).errors.length === 0,
  );
  const after = await query(BYSTANDING, { token: bystander });
  expect(after.data).toEqual(answered.data);
  expect(facade.logged.filter((line) => line.includes('uncaught exception, exiting'))).toEqual([]);
});

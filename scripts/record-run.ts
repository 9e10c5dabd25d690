// A minute of the demonstration page as it really went, which the page plays where the sandbox's controls are refused.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mark } from '../page/src/lanes/mark.ts';
import type { RecordedRun } from '../page/src/recorded-run.ts';
import type { Way } from '../page/src/start-screen.ts';
import { openDemo } from './open-demo.ts';

const FILE = join(import.meta.dirname, '..', 'page', 'recorded-run.json');
const SPAN_MS = 60_000;
const MAX_BYTES = 10_000;
const LISTEN = `globalThis.run = { beganAtMs: Date.now(), marks: [], comparison: null };
addEventListener('page:mark', ({ detail }) => run.marks.push(detail));
addEventListener('page:comparison', ({ detail }) => { run.comparison ??= detail; });`;

/** The actions of a visitor, and when each comes: an order, a gateway that fails for 5 s, a repeated call, a socket that is lost. */
const ACTIONS: readonly (readonly [afterMs: number, button: string])[] = [
  [8_000, 'Place the order'],
  [18_000, 'Cut the gateway for 5 s'],
  [36_000, 'Change 3 at the gateway, then sync'],
  [48_000, 'Kill the socket'],
];

/** The fields of the answers over REST that the phones draw. */
const DRAWN = [
  ...['equity', 'balance', 'currency', 'symbol', 'name', 'profit', 'priceOpen', 'digits'],
  ...['leverage', 'title', 'status'],
];

interface Heard {
  readonly beganAtMs: number;
  readonly marks: readonly Mark[];
  readonly comparison: Readonly<Record<'rest' | 'graph', Way>>;
}

await using demo = await openDemo();
const recordedAt = new Date();
const page = await demo.browser.newPage();
await page.addInitScript(LISTEN);
await page.goto(demo.url);
await page.evaluate('for (const each of document.querySelectorAll(`details`)) each.open = true');
const passed = (ms: number) =>
  page.waitForFunction((until) => Date.now() > until, recordedAt.getTime() + ms);
for (const [afterMs, name] of ACTIONS) {
  await passed(afterMs);
  // The one that is repeated: its first attempt fails.
  if (name.startsWith('Change')) {
    const fault = { operation: 'getAllTickers', kind: 'status', status: 503, times: 1 };
    await fetch(`${demo.url}/sandbox/faults`, { method: 'POST', body: JSON.stringify(fault) });
  }
  await page.getByRole('button', { name, exact: true }).click();
}
await passed(SPAN_MS + 2_000);
const heard = await page.evaluate<Heard>('run');
const text = JSON.stringify(runOf(heard, recordedAt));
if (text.length > MAX_BYTES) throw new Error(`The run has ${text.length} bytes.`);
writeFileSync(FILE, `${text}\n`);
console.log(`${FILE}: ${text.length} bytes, ${heard.marks.length} marks`);

function runOf({ beganAtMs, marks, comparison }: Heard, recordedAt: Date): RecordedRun {
  const { rest, graph } = comparison;
  const groups = Map.groupBy(
    marks
      .map((mark) => ({ ...mark, atMs: Math.round(mark.atMs - beganAtMs) }))
      .filter(({ atMs }) => atMs >= 0 && atMs < SPAN_MS),
    ({ lane, kind, text }) => JSON.stringify({ lane, kind, text }),
  );
  return {
    recordedAt: recordedAt.toISOString(),
    comparison: { rest: { ...rest, ...callsOf(rest), data: drawnOf(rest) }, graph: callsOf(graph) },
    groups: [...groups].map(([same, each]) => ({
      ...JSON.parse(same),
      moments: each.map(({ atMs, ms }) => (ms ? [atMs, Math.round(ms)] : [atMs])),
    })),
  };
}

/** The calls without the answers' bodies. */
function callsOf({ calls }: Way): Pick<Way, 'calls'> {
  return {
    calls: calls.map(({ startMs, endMs, ...call }) => ({
      ...call,
      startMs: Math.round(startMs),
      endMs: Math.round(endMs),
      body: null,
    })),
  };
}

function drawnOf({ data }: Way): Way['data'] {
  const drawn = (value: unknown) => JSON.parse(JSON.stringify(value, DRAWN));
  return Object.fromEntries(Object.entries(data).map(([field, value]) => [field, drawn(value)]));
}
